/** A program: publishes an event and reads it, with the variables of its environment; prints what came of it. */
import { openKafkaBroker } from '../../src/adapters/kafka/kafka-broker.js';
import { readConfig } from '../../src/platform/config/config.js';
import { openDatabase } from '../../src/platform/database/database.js';
import { listenTo } from '../../src/platform/database/listen.js';
import { openLog } from '../../src/platform/log.js';

const { kafka, databaseUrl } = readConfig(process.env);
if (!kafka || databaseUrl === undefined)
  throw new Error('KAFKA_BROKERS or DATABASE_URL is not set');
const log = openLog('silent');
const database = openDatabase(databaseUrl, 2);
const listen = listenTo([{ url: databaseUrl, mayBeAway: false }], log);
try {
  const broker = await openKafkaBroker(kafka, database, listen, { timeoutMs: 10_000, log });
  const { partition, offset } = await broker.publish({
    tenantId: 'secured',
    partitionKey: 'a',
    key: null,
    orgId: 'o',
    message: '{"a":1}',
  });
  const { records } = await broker.read('secured', partition, offset, offset + 1);
  process.stdout.write(`read ${records[0]?.message ?? 'nothing'}`);
} catch (error) {
  process.stdout.write(`failed ${error instanceof Error ? error.message : String(error)}`);
}
process.exit(0);
