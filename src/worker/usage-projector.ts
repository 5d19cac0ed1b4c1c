import { listProjectedTenants, projectUsage } from '../activities/usage/projection.js';
import type { Platform } from '../process/platform.js';

const projectMs = 500;
/** Maximum steps for one tenant before the others have their turn. */
const stepsMax = 20;

/**
 * Merges usage deltas into totals in the background. Every process with workers runs it; an
 * advisory lock admits one process at a time for a tenant.
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

  /** An error of one tenant must not block the following ones. */
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
