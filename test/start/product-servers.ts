import { randomBytes } from 'node:crypto';
import { makeNamespace } from '../production/servers.js';
import { createTestDatabase } from '../support/servers/servers.js';

/**
 * The environment of a product that is started as processes: nothing where its servers are embedded;
 * a database, a namespace and topics of its own where `npm run test:production` has started servers.
 */
export async function productServers(): Promise<Record<string, string>> {
  const address = process.env['TEST_TEMPORAL_ADDRESS'];
  const brokers = process.env['TEST_KAFKA_BROKERS'];
  if (address === undefined || brokers === undefined) return {};
  const name = `product-${randomBytes(4).toString('hex')}`;
  await makeNamespace(address, name);
  return {
    DATABASE_URL: await createTestDatabase(),
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: name,
    KAFKA_BROKERS: brokers,
    KAFKA_PREFIX: name,
    // The servers of these tests are on this machine.
    WEBHOOK_PRIVATE_ADDRESSES: 'true',
    SECRET_KEY: randomBytes(32).toString('base64'),
  };
}
