import { join } from 'node:path';
import { expect } from 'chai';
import { startProgram } from '../start/workbench.js';
import { createTestDatabase } from '../support/servers/servers.js';
import { told } from './told.js';

interface Secure {
  readonly brokers: string;
  readonly password: string;
  readonly caFile: string;
}

/** A Kafka that wants TLS, of an authority of its own, and a name with a password. */
describe('a Kafka that wants TLS and a password', function () {
  // Each case is a process of its own: which authorities it trusts is read when it starts.
  this.timeout(120_000);
  const { brokers, password, caFile } = JSON.parse(told('TEST_KAFKA_SECURE')) as Secure;
  let databaseUrl = '';
  before(async () => {
    databaseUrl = await createTestDatabase();
  });

  async function outcome(prefix: string, changes: Record<string, string>): Promise<string> {
    const env = {
      DATABASE_URL: databaseUrl,
      KAFKA_BROKERS: brokers,
      KAFKA_PREFIX: prefix,
      KAFKA_TLS: 'true',
      NODE_EXTRA_CA_CERTS: caFile,
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      KAFKA_USERNAME: 'durabill',
      KAFKA_PASSWORD: password,
      ...changes,
    };
    const args = ['--import', 'tsx', join(import.meta.dirname, 'kafka-round-trip.ts')];
    const { ended, output } = startProgram(process.execPath, args, env);
    await ended;
    return output();
  }

  it('takes and gives events, with SCRAM and with PLAIN', async () => {
    expect(await outcome('scram', {})).to.equal('read {"a":1}');
    expect(await outcome('plain', { KAFKA_SASL_MECHANISM: 'PLAIN' })).to.equal('read {"a":1}');
  });

  it('is not reached with a wrong password, without TLS, or by an authority that is not known', async () => {
    const wrong = [
      { KAFKA_PASSWORD: 'wrong' },
      { KAFKA_TLS: 'false' },
      { NODE_EXTRA_CA_CERTS: '' },
    ];
    for (const changes of wrong) {
      expect(await outcome('wrong', changes), JSON.stringify(changes)).to.match(/^failed /);
    }
  });
});
