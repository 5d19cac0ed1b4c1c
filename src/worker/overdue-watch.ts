import { listBilledTenants, markOverdue } from '../activities/billing/overdue-invoices.js';
import { utcDate } from '../kernel/time/date.js';
import type { Platform } from '../process/platform.js';

/** How often it checks for a new day, or a full hour. */
const everyMsByDefault = 30_000;
/**
 * Checked within a day, too: a run may post invoices that are due already, and the application of a
 * payment may be removed.
 */
const againMs = 3_600_000;

/**
 * Marks overdue invoices of each tenant at the begin of a day (UTC) and once an hour. Every process
 * with workers runs it; the first one that finds an invoice marks it.
 */
export class OverdueWatch {
  readonly #platform: Platform;
  readonly #timer: NodeJS.Timeout;
  /** When each tenant was looked at last. */
  readonly #looked = new Map<string, Date>();
  #looking: Promise<void> | undefined;
  #isStopped = false;

  constructor(platform: Platform, everyMs = everyMsByDefault) {
    this.#platform = platform;
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, everyMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  #isDone(tenantId: string, now: Date): boolean {
    const at = this.#looked.get(tenantId);
    if (!at || utcDate(at) !== utcDate(now)) return false;
    return now.getTime() - at.getTime() < againMs;
  }

  async #look(): Promise<void> {
    const { log } = this.#platform;
    try {
      for (const tenantId of await listBilledTenants(this.#platform)) {
        if (this.#isStopped) return;
        await this.#lookAt(tenantId);
      }
    } catch (error) {
      log.warn({ err: error }, 'cannot look for overdue invoices; trying again');
    }
  }

  /** An error of one tenant must not block the following ones. */
  async #lookAt(tenantId: string): Promise<void> {
    const now = this.#platform.now();
    if (this.#isDone(tenantId, now)) return;
    try {
      await markOverdue(this.#platform, tenantId);
      this.#looked.set(tenantId, now);
    } catch (error) {
      this.#platform.log.warn(
        { err: error, tenantId },
        'cannot mark overdue invoices; trying again',
      );
    }
  }
}
