import { Client, Connection } from '@temporalio/client';
import { loadConfig } from '../platform/config.js';
import { readInstance } from '../platform/embedded/instance-lock.js';
import { dataConverterOf } from '../platform/temporal.js';
import { StartupError } from '../platform/embedded/startup-error.js';

/** Runs the work with a client of the Temporal server of the running instance. */
export async function withTemporal<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const { dataDir, temporal, payloadKeys } = loadConfig();
  const instance = temporal.address === undefined ? await readInstance(dataDir) : undefined;
  const address = temporal.address ?? instance?.temporalAddress;
  if (address === undefined || address === null) {
    throw new StartupError(
      `Durabill is not running on ${dataDir}: start it with 'npm start', or set TEMPORAL_ADDRESS.`,
    );
  }
  const { tls, apiKey } = temporal;
  const connection = await Connection.connect({
    ...{ address, ...(tls ? { tls } : {}), ...(apiKey === undefined ? {} : { apiKey }) },
  });
  try {
    const namespace = instance?.temporalNamespace ?? temporal.namespace;
    return await work(
      new Client({ connection, namespace, dataConverter: dataConverterOf(payloadKeys) }),
    );
  } finally {
    await connection.close();
  }
}
