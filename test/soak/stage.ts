import { setTimeout as wait } from 'node:timers/promises';
import { benchClient, createAccounts, createServices } from '../../bench/fixture.js';
import { KillableProduct } from '../start/killable.js';
import { outcomeOf, type Outcome } from '../start/outcome.js';
import { until } from '../start/workbench.js';
import { accountCount, idPrefix, Traffic, volumeOfEvent } from './traffic.js';

const serviceCount = 20;
const sendersOfCapacity = 256;
const capacitySeconds = 30;
const warmUpSeconds = 5;
/** How long the last events may take to be rated after the last kill, or after too much of them. */
const ratedWithinMs = 600_000;

type Summary = Record<'accepted' | 'rated' | 'duplicate' | 'rejected' | 'pending', number>;

/** Whether something held, and the figures that say so. */
export interface Check {
  readonly name: string;
  readonly isPassed: boolean;
  readonly figures: string;
}

/** The product with a catalog, and what sends usage to it. */
export class Stage {
  readonly product: KillableProduct;
  readonly traffic: Traffic;
  readonly #token: string;

  private constructor(product: KillableProduct, token: string, traffic: Traffic) {
    this.product = product;
    this.traffic = traffic;
    this.#token = token;
  }

  static async open(sockets: number): Promise<Stage> {
    const product = await KillableProduct.start();
    try {
      const token = await product.token('soak', '7d');
      const client = benchClient(product.url, token);
      await createAccounts(client, accountCount);
      const services = await createServices(client, serviceCount);
      return new Stage(product, token, new Traffic(product.url, token, services, sockets));
    } catch (error) {
      await product.close();
      throw error;
    }
  }

  /** Undefined while the product does not answer. */
  async summary(): Promise<Summary | undefined> {
    const response = await this.product
      .send(this.#token, '/v1/usage-events/summary', { method: 'GET' })
      .catch(() => undefined);
    return response?.ok === true ? ((await response.json()) as Summary) : undefined;
  }

  async untilReady(): Promise<void> {
    const isReady = () =>
      fetch(`${this.product.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(isReady, 120_000, 'readiness');
  }

  async untilRated(): Promise<void> {
    const end = Date.now() + ratedWithinMs;
    while ((await this.summary())?.pending !== 0) {
      if (Date.now() > end)
        throw new Error(`Not all is rated. ${this.product.output.slice(-3000)}`);
      await wait(250);
    }
  }

  /**
   * Events a second that are accepted one by one and rated, on this machine, which the senders use as
   * well: those that 256 senders have confirmed, by the time until the last of them was rated.
   */
  async measureCapacity(): Promise<number> {
    await this.traffic.asFastAsAnswered(sendersOfCapacity, warmUpSeconds);
    await this.untilRated();
    const before = this.traffic.confirmed.size;
    const since = performance.now();
    await this.traffic.asFastAsAnswered(sendersOfCapacity, capacitySeconds);
    await this.untilRated();
    const seconds = (performance.now() - since) / 1000;
    return (this.traffic.confirmed.size - before) / seconds;
  }

  /** What must hold of all events that were ever sent, once all are rated. */
  async checkEvents(): Promise<Check[]> {
    const { confirmed } = this.traffic;
    const outcome = await outcomeOf((sql) => this.product.query(sql), idPrefix, confirmed);
    const summary = await this.summary();
    if (summary === undefined) throw new Error('The product does not answer at the end.');
    return checksOf(outcome, summary, confirmed.size);
  }

  async close(): Promise<void> {
    await this.traffic.close();
    await this.product.close();
  }
}

function checksOf(outcome: Outcome, summary: Summary, confirmed: number): Check[] {
  const { rated, doubled, lost, counters, volumes } = outcome;
  const { accepted, duplicate, rejected, pending } = summary;
  return [
    { name: 'lost', isPassed: confirmed > 0 && lost === 0, figures: `${lost} of ${confirmed}` },
    { name: 'doubled', isPassed: doubled === 0, figures: `${doubled} of ${rated}` },
    { name: 'rejected', isPassed: rejected === 0, figures: String(rejected) },
    {
      name: 'every accepted event has one outcome',
      isPassed: summary.rated === rated && accepted === rated + duplicate + rejected + pending,
      figures:
        `accepted ${accepted} = rated ${summary.rated} + duplicate ${duplicate} + ` +
        `rejected ${rejected} + pending ${pending}`,
    },
    {
      name: 'counters are the sums of rated volumes',
      isPassed: Number(counters) === volumeOfEvent * rated && counters === volumes,
      figures: `${counters} = ${volumes} = ${volumeOfEvent} x ${rated}`,
    },
  ];
}
