import { expect } from 'chai';
import {
  invoicesOf,
  itemLines,
  runBilling,
  type BilledInvoice,
  type RunOutput,
} from '../billing/billing-run.js';
import {
  createAccount,
  createService,
  event,
  send,
  waitUntilRated,
  type Message,
  type Summary,
} from '../billing/usage.js';
import {
  external,
  type InstanceOptions,
  type TestInstance,
  type TestTenant,
} from '../servers/instance.js';
import { useInstance, useTenant } from '../servers/use-instance.js';
import { daysOf, monthAfter, type Period } from './periods.js';

/** A contract as it was made: the lines in the order in which they were given. */
export interface Subscribed {
  readonly id: string;
  /** Where the contract is. */
  readonly path: string;
  readonly lines: readonly { readonly id: string; readonly serviceId: string }[];
}

/** What a billing run has posted. */
export interface Bill {
  readonly run: RunOutput;
  /** In the order of their numbers. */
  readonly invoices: readonly BilledInvoice[];
  /** The items of all of them in short, `description first..last amount`, sorted. */
  readonly lines: readonly string[];
}

/** The day, or the instant, that it is in a story; undefined while the story has the real time. */
interface Clock {
  now: string | undefined;
}

/**
 * What people do in a billing story, each step as they do it: over HTTP, as one tenant. Whatever a
 * step does has happened when it is done; usage that was sent is rated.
 */
export class Story {
  /** By tenant: each test may have another one. */
  readonly #sent = new Map<string, number>();
  readonly instance: TestInstance;
  readonly tenant: TestTenant;
  readonly #clock: Clock;

  constructor(instance: TestInstance, tenant: TestTenant, clock: Clock) {
    this.instance = instance;
    this.tenant = tenant;
    this.#clock = clock;
  }

  /** The same story, told of another tenant. */
  as(tenant: TestTenant): Story {
    return new Story(this.instance, tenant, this.#clock);
  }

  /** Moves the clock to noon of a day, or to an instant. */
  travelTo(time: string): void {
    if (this.#clock.now === undefined) throw new Error('This story has the real time: startsOn.');
    this.#clock.now = time.includes('T') ? time : `${time}T12:00:00Z`;
  }

  /** Moves the clock to the first day of the next month; the month that is over is returned. */
  jumpMonth(): string {
    const month = (this.#clock.now ?? '').slice(0, 7);
    this.travelTo(`${monthAfter(month)}-01`);
    return month;
  }

  /** An account with this name and external id. */
  account(externalId: string, more: object = {}): Promise<string> {
    return createAccount(this.tenant, externalId, more);
  }

  /** A service; unless `more` says otherwise, of API calls at 0.01 each. */
  service(name: string, more: object = {}): Promise<string> {
    return createService(this.tenant, name, more);
  }

  async approveService(serviceId: string): Promise<void> {
    const path = `${external}/run/billing/service/approve`;
    await this.tenant.post(path, { ID_Service: serviceId }).expect(200);
  }

  /** A new version of the price list in USD. */
  async changePrices(serviceId: string, card: object): Promise<void> {
    await this.tenant.put(`${external}/services/${serviceId}/rate-cards/USD`, card).expect(200);
  }

  async taxRate(code: string, rate: number): Promise<void> {
    await this.tenant.post('/v1/tax-rates', { code, rate }).expect(201);
  }

  /** A contract of an account, with a line for each service, or for each line as it is given. */
  async subscribe(
    masterAccountId: string,
    lines: readonly (string | object)[],
    contract: object = {},
  ): Promise<Subscribed> {
    const services = lines.map((line) => (typeof line === 'string' ? { serviceId: line } : line));
    const { body } = await this.tenant
      .post(`${external}/contracts`, { masterAccountId, name: 'C', ...contract, services })
      .expect(201);
    const id = body.id as string;
    return { id, path: `${external}/contracts/${id}`, lines: body.services };
  }

  async changeContract({ path }: Subscribed, change: object): Promise<void> {
    await this.tenant.put(path, change).expect(200);
  }

  async changeLine(lineId: string | undefined, change: object): Promise<void> {
    await this.tenant.put(`${external}/contract-services/${lineId}`, change).expect(200);
  }

  async endLine(lineId: string | undefined, terminationDate: string): Promise<void> {
    const path = `${external}/contract-services/${lineId}/end`;
    await this.tenant.put(path, { terminationDate }).expect(200);
  }

  /** Sends usage events, all of them at once, and waits until they are rated or rejected. */
  async send(...messages: Message[]): Promise<string[]> {
    const { id } = this.tenant;
    const ids = await send(this.tenant, ...messages);
    this.#sent.set(id, (this.#sent.get(id) ?? 0) + ids.length);
    await this.rated();
    return ids;
  }

  /** Waits until all that was sent is rated or rejected. */
  rated(): Promise<Summary> {
    return waitUntilRated(this.tenant, this.#sent.get(this.tenant.id));
  }

  /** What is known of a usage event, by its external id. */
  event(externalId: string) {
    return event(this.tenant, externalId);
  }

  /** Bills a month or other days, and reads the invoices. */
  async bill(period: Period, more: object = {}): Promise<Bill> {
    const [first, last] = daysOf(period);
    const run = await runBilling(this.tenant, first, last, more);
    const invoices = await invoicesOf(this.tenant, run);
    return { run, invoices, lines: invoices.flatMap(itemLines).sort() };
  }

  /** What billing a month or other days would post; nothing is written. */
  preview(period: Period, more: object = {}): Promise<RunOutput> {
    const [first, last] = daysOf(period);
    return runBilling(this.tenant, first, last, { dryRun: true, ...more });
  }

  /** The id of the invoice of a number. */
  async invoiceNumbered(invoiceNo: string): Promise<string> {
    const { body } = await this.tenant.get(`${external}/invoices?q=${invoiceNo}`).expect(200);
    return body.data.content[0].Id as string;
  }

  async voidInvoice(id: string | undefined, reason?: string): Promise<void> {
    const body = reason === undefined ? undefined : { reason };
    await this.tenant.post(`/v1/invoices/${id}/void`, body).expect(200);
  }

  /** What an invoice is made of; it always has an item. */
  async explain(invoiceId: string | undefined) {
    const { body } = await this.tenant.get(`/v1/invoices/${invoiceId}/explain`).expect(200);
    expect(body.items).to.not.be.empty;
    return body;
  }

  /** A payment in cash, from the customer unless `more` says otherwise; as its creation answered. */
  async pay(accountId: string | undefined, amount: number, more: object = {}) {
    const payment = {
      accountId,
      amount,
      currency: 'USD',
      paymentDate: '2026-04-02',
      paymentMethod: 'Cash',
      paymentType: 'Pay In',
      paymentReference: `payment of ${amount}`,
    };
    const { body } = await this.tenant
      .post(`${external}/payments`, { ...payment, ...more })
      .expect(201);
    return body as { readonly id: string; readonly balance: number };
  }
}

interface StoryOptions extends Omit<InstanceOptions, 'now'> {
  /** The day, or the instant, on which the story begins; without it, the story has the real time. */
  readonly startsOn?: string;
  /** Whether each test has a tenant of its own; else the tests of the `describe` share one. */
  readonly forEachTest?: boolean;
  /** Whether no other story may have been told there: its tests look at more than their tenants. */
  readonly isAlone?: boolean;
}

/** A story for the tests of a `describe`, on an instance with workers, which other stories may share. */
export function useStory({
  startsOn,
  forEachTest = false,
  isAlone = false,
  ...options
}: StoryOptions = {}): Story {
  const clock: Clock = { now: startsOn };
  const now = () => new Date(clock.now ?? '');
  const instance = useInstance({
    withWorkers: true,
    isShared: !isAlone,
    ...options,
    // The tokens of a story with a clock of its own live as long as any story goes on.
    ...(startsOn === undefined ? {} : { now, tokenSeconds: 1_000 * 86_400 }),
  });
  const story = new Story(instance, useTenant(instance, { forEachTest }), clock);
  if (startsOn !== undefined) story.travelTo(startsOn);
  return story;
}
