import { listProjectedTenants, projectUsage } from '../activities/usage/projection.js';
import type { Platform } from '../process/platform.js';

const projectMs = 500;
/** A tenant with much to do lets the others have theirs after so many steps. */
const stepsMax = 20;

/**
 * Brings projections of usage up to the facts behind those who write them. Every process with workers
 * does it; the database lets one at a time work for a tenant.
 */
export class UsageProjector {
  readonly #platform: Platform;
  readonly #timer: NodeJS.Timeout;
  #projecting: Promise<void> | undefined;
  #isStopped = false;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#timer = setInterval(() => {
      this.#projecting ??= this.#project().finally(() => {
        this.#projecting = undefined;
      });
    }, projectMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#projecting;
  }

  async #project(): Promise<void> {
    try {
      for (const tenantId of await listProjectedTenants(this.#platform)) {
        await this.#projectOf(tenantId);
      }
    } catch (error) {
      this.#platform.log.warn({ err: error }, 'cannot look for usage to add up; trying again');
    }
  }

  /** A tenant that fails must not hide those that follow. */
  async #projectOf(tenantId: string): Promise<void> {
    try {
      for (let step = 0; step < stepsMax && !this.#isStopped; step += 1) {
        if (!(await projectUsage(this.#platform, tenantId))) return;
      }
    } catch (error) {
      this.#platform.log.warn({ err: error, tenantId }, 'cannot add up usage; trying again');
    }
  }
}
