import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { accountRef, benchClient, createAccounts, createServices } from '../../bench/fixture.js';
import { dataFile } from '../../src/platform/data-folder.js';
import { KillableProduct } from '../start/killable.js';
import { Attacker, type Loot } from './attacker.js';
import { collectLoot, liftLimits } from './loot.js';
import { Neighbour } from './neighbour.js';

const attackerTenant = 'attacker';
const neighbourTenant = 'neighbour';
const readyWithinMs = 60_000;

/** The resident memory of a process in MiB; undefined where it is gone. */
async function mebibytesOf(pid: number): Promise<number | undefined> {
  try {
    if (process.platform !== 'linux') {
      const text = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
      return Number(text) / 1024;
    }
    const text = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return undefined;
  }
}

/** The processes that these have started. */
function childrenOf(parents: readonly number[]): number[] {
  const text = execFileSync('ps', ['-axo', 'pid=,ppid='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
    return parents.includes(parent) ? [pid] : [];
  });
}

/** A product with two tenants: one that attacks, and one that has to notice nothing of it. */
export class Stage {
  product: KillableProduct;
  neighbour: Neighbour;
  readonly loot: Loot;
  readonly #tokens: { readonly attacker: string; readonly neighbour: string };
  readonly #env: Record<string, string>;
  readonly #place: { readonly accountId: string; readonly serviceId: string };
  #pid: number;

  private constructor(given: {
    product: KillableProduct;
    neighbour: Neighbour;
    loot: Loot;
    tokens: { readonly attacker: string; readonly neighbour: string };
    env: Record<string, string>;
    place: { readonly accountId: string; readonly serviceId: string };
    pid: number;
  }) {
    this.product = given.product;
    this.neighbour = given.neighbour;
    this.loot = given.loot;
    this.#tokens = given.tokens;
    this.#env = given.env;
    this.#place = given.place;
    this.#pid = given.pid;
  }

  /** Webhooks may not lead to this machine, as in production, unless `env` says so. */
  static async open(env: Record<string, string> = {}): Promise<Stage> {
    const whole = { WEBHOOK_PRIVATE_ADDRESSES: 'false', LOG_LEVEL: 'warn', ...env };
    const product = await KillableProduct.start({ env: whole });
    try {
      const tokens = {
        attacker: await product.token(attackerTenant, '7d'),
        neighbour: await product.token(neighbourTenant, '7d'),
      };
      // Anybody may register a client, and begin what follows from it.
      const mayRegister = ['--name', 'any', '--auth-type', 'per_user_oauth'];
      await product.command('mcp-client', 'add', ...mayRegister);
      await liftLimits(product, attackerTenant);
      await liftLimits(product, neighbourTenant);
      const client = benchClient(product.url, tokens.neighbour);
      const [accountId = ''] = await createAccounts(client, 40);
      const [serviceId = ''] = await createServices(client, 2);
      const loot = await collectLoot(product, tokens.attacker, attackerTenant);
      const place = { accountId, serviceId };
      const neighbour = await Stage.#neighbour(product, tokens.neighbour, place);
      const pid = await Stage.#pidOf(product);
      return new Stage({ product, neighbour, loot, tokens, env: whole, place, pid });
    } catch (error) {
      process.stderr.write(product.output.slice(-4_000));
      await product.close();
      throw error;
    }
  }

  static #neighbour(
    { url, folder }: KillableProduct,
    token: string,
    place: { readonly accountId: string; readonly serviceId: string },
  ): Promise<Neighbour> {
    return Neighbour.start({ url, token, folder, ...place, accountRef: accountRef(0) });
  }

  /** The process that serves: the one that holds the folder's lock. */
  static async #pidOf({ folder }: KillableProduct): Promise<number> {
    const text = await readFile(dataFile.lock(folder), 'utf8').catch(() => '{}');
    return (JSON.parse(text) as { pid?: number }).pid ?? 0;
  }

  attacker(millis: number): Attacker {
    const { product, loot } = this;
    const query = (sql: string): Promise<object[]> => product.query(sql);
    const pauseDatabase = (work: () => Promise<void>): Promise<void> => this.#withoutDatabase(work);
    return new Attacker(
      { url: product.url, token: this.#tokens.attacker, loot, query, pauseDatabase },
      millis,
    );
  }

  /** PostgreSQL answers nothing, and is there: so is a machine that is cut off. */
  async #withoutDatabase(work: () => Promise<void>): Promise<void> {
    const { postgres } = await this.product.processes();
    const all = [...postgres, ...childrenOf(postgres)];
    const tell = (signal: NodeJS.Signals): void => {
      for (const pid of all) {
        try {
          process.kill(pid, signal);
        } catch {
          // It has ended meanwhile.
        }
      }
    };
    tell('SIGSTOP');
    try {
      await work();
    } finally {
      tell('SIGCONT');
    }
  }

  /** Its memory in MiB; undefined where it is no longer the same process. */
  async memory(): Promise<number | undefined> {
    return (await Stage.#pidOf(this.product)) === this.#pid ? mebibytesOf(this.#pid) : undefined;
  }

  /** Waits until the product answers as it did before; the milliseconds, undefined where it does not. */
  async untilRecovered(isWell: () => Promise<boolean>): Promise<number | undefined> {
    const since = Date.now();
    while (Date.now() - since < readyWithinMs) {
      if (await isWell()) return Date.now() - since;
      await wait(100);
    }
    return undefined;
  }

  /** Another process on the same folder, with what else its environment is to hold. */
  async restart(env: Record<string, string> = {}): Promise<void> {
    this.neighbour.stop();
    await this.product.kill();
    const { folder } = this.product;
    this.product = await KillableProduct.start({ folder, env: { ...this.#env, ...env } });
    this.neighbour = await Stage.#neighbour(this.product, this.#tokens.neighbour, this.#place);
    this.#pid = await Stage.#pidOf(this.product);
  }

  async close(): Promise<void> {
    this.neighbour.stop();
    await this.product.close();
  }
}
