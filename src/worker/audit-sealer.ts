import { sealAuditEntries } from '../activities/access/audit.js';
import type { Platform } from '../process/platform.js';

const sealMs = 500;
/** Entries sealed in one transaction, which takes about 0.1 s. */
const entriesMax = 2_000;

/**
 * Seals new entries of the audit in the background. Every process with workers runs it; an advisory
 * lock admits one at a time.
 */
export class AuditSealer {
  readonly #platform: Platform;
  readonly #timer: NodeJS.Timeout;
  #sealing: Promise<void> | undefined;
  #isStopped = false;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#timer = setInterval(() => {
      this.#sealing ??= this.#seal().finally(() => {
        this.#sealing = undefined;
      });
    }, sealMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#sealing;
  }

  async #seal(): Promise<void> {
    const { log } = this.#platform;
    try {
      while (
        !this.#isStopped &&
        (await sealAuditEntries(this.#platform, entriesMax)) === entriesMax
      );
    } catch (error) {
      log.warn({ err: error }, 'the audit cannot be sealed; trying again');
    }
  }
}
