import { Client, Connection } from '@temporalio/client';
import { defined } from '../../kernel/defined.js';
import { loadConfig } from '../../platform/config/config.js';
import { dataFile, readOrCreateSecret } from '../../platform/data-folder.js';
import { readInstance } from './embedded-parts.js';
import { readSecretKeys } from '../../platform/secret-box.js';
import { dataConverterOf, listConverterOf } from '../../platform/temporal/temporal.js';
import { defaultTaskQueue } from '../../process/platform.js';
import type { SchedulePlace } from '../../flows/billing/billing-schedule.js';
import { workflowSigner } from '../../platform/temporal/workflow-signature.js';
import { StartupError } from '../../platform/startup-error.js';

/** Whether the configuration, or the instance that runs, says where Temporal is. */
export async function isTemporalKnown(): Promise<boolean> {
  const { dataDir, temporal } = loadConfig();
  if (temporal.address !== undefined) return true;
  return typeof (await readInstance(dataDir))?.temporalAddress === 'string';
}

interface TemporalAccess extends SchedulePlace {
  /** Lists, whatever others wrote into the memo of one. */
  readonly lister: Client;
}

/** Runs the work with a client of the Temporal server of the running instance, and its signatures. */
export async function withTemporal<T>(work: (place: TemporalAccess) => Promise<T>): Promise<T> {
  const { dataDir, temporal, payloadKeys, secretKey } = loadConfig();
  const instance = temporal.address === undefined ? await readInstance(dataDir) : undefined;
  const address = temporal.address ?? instance?.temporalAddress;
  if (address === undefined || address === null) {
    throw new StartupError(
      `Durabill is not running on ${dataDir}: start it with 'npm start', or set TEMPORAL_ADDRESS.`,
    );
  }
  const { tls, apiKey } = temporal;
  const connection = await Connection.connect({
    address,
    ...(tls ? { tls } : {}),
    ...defined({ apiKey }),
  });
  try {
    const namespace = instance?.temporalNamespace ?? temporal.namespace;
    const keys = secretKey ?? (await readOrCreateSecret(dataFile.secretKey(dataDir)));
    return await work({
      client: new Client({ connection, namespace, dataConverter: dataConverterOf(payloadKeys) }),
      lister: new Client({ connection, namespace, dataConverter: listConverterOf(payloadKeys) }),
      taskQueue: defaultTaskQueue,
      signer: workflowSigner({ ...readSecretKeys(keys), namespace }),
    });
  } finally {
    await connection.close();
  }
}
