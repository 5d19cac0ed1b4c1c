import type { Platform } from '../platform/platform.js';

export interface RunningWorkers {
  /** Finishes what is under way and stops. */
  drain(): Promise<void>;
}

export function startWorkers(_platform: Platform): Promise<RunningWorkers> {
  return Promise.reject(new Error('The workers are being written.'));
}
