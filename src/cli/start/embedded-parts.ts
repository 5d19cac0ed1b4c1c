import { errorCode, StartupError } from '../../platform/startup-error.js';

const instanceLock = async () => import('../../embedded/instance-lock.js');

/**
 * Loads what only the one-machine default needs. The production image is without `embedded`
 * (docs/decisions/0300): there the configuration has to say where the servers are.
 */
export async function loadEmbedded<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new StartupError(
      'This installation has no servers of its own: set DATABASE_URL and TEMPORAL_ADDRESS.',
    );
  }
}

/** What is known about the instance of this data folder, and whether its process runs. */
export async function readInstance(dataDir: string) {
  const parts = await loadEmbedded(instanceLock);
  return parts.readInstance(dataDir);
}

/** The process that owns the servers of this data folder; undefined while none does. */
export async function findHolder(dataDir: string) {
  const parts = await loadEmbedded(instanceLock);
  return parts.findHolder(dataDir);
}
