import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { runDurabill } from '../../support/servers/command-line.js';
import { readSecretKeys, secretBox } from '../../../src/platform/secret-box.js';
import { openTokenKeys } from '../../../src/access/tokens.js';
import { setBillingSchedule } from '../../../src/flows/billing/billing-schedule.js';
import { signatureMemo } from '../../../src/messages/workflow-signature.js';
import { workflowSigner } from '../../../src/platform/temporal/workflow-signature.js';
import { testServers } from '../../support/servers/servers.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';

describe('rotation of SECRET_KEY', function () {
  // Each command is a process of its own.
  this.timeout(120_000);
  const secretText = 'whsec_'.concat('q'.repeat(32));
  let instance: TestInstance;
  let tenants: TestTenant[];
  let old: Buffer;
  let temporalAddress: string;
  before(async () => {
    temporalAddress = (await testServers()).temporal.address;
    instance = await openTestInstance();
    old = instance.platform.config.secret;
    tenants = [await instance.tenant(), await instance.tenant()];
    for (const tenant of tenants) {
      await tenant
        .post('/v1/webhooks', {
          url: 'http://127.0.0.1:9/x',
          events: ['payment.saved'],
          secret: secretText,
        })
        .expect(201);
      await tenant.put('/v1/secrets/CRM', { value: secretText }).expect(200);
    }
  });
  after(async () => {
    await instance.platform.temporal.waiter.schedule.getHandle(scheduleId()).delete();
    await instance.close();
  });

  const sealWith = async (...keys: Buffer[]): Promise<{ code: number; text: string }> => {
    const settings = {
      DATABASE_URL: instance.databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      SECRET_KEY: keys.map((key) => key.toString('base64')).join(', '),
    };
    const { code, output, errors } = await runDurabill(settings, 'secrets', 'seal');
    return { code, text: output + errors };
  };

  const scheduleId = (): string => `billing/${tenants[0]?.id ?? ''}`;
  /** Whether what the schedule starts is signed with this key alone. */
  const signedBy = async (secret: Buffer): Promise<boolean> => {
    const { waiter, namespace } = instance.platform.temporal;
    const { action } = await waiter.schedule.getHandle(scheduleId()).describe();
    const { workflowType: type, workflowId = '', args: [input] = [], memo } = action;
    const signer = workflowSigner({ secret, previousSecrets: [], namespace });
    return signer.isSigned({ type, workflowId, input }, memo?.[signatureMemo]);
  };

  const sealedOf = async (tenant: TestTenant): Promise<string[]> => {
    const { read } = tenant.scope.db;
    const tables = ['webhookSecret', 'workflowSecret'];
    const rows = await Promise.all(
      tables.map((table) => read(table).select<{ sealed: string }[]>('sealed')),
    );
    return rows.flat().map(({ sealed }) => sealed);
  };

  it('opens with every key, seals with the first', () => {
    const [first, second] = [randomBytes(32), randomBytes(32)];
    const text = [first, second].map((key) => key.toString('base64')).join(',');
    const { secret, previousSecrets } = readSecretKeys(text);
    const both = secretBox(secret, previousSecrets);
    expect(both.open(secretBox(second).seal('x'))).to.equal('x');
    expect(secretBox(first).open(both.seal('x'))).to.equal('x');
    expect(both.sealAgain(both.seal('x'))).to.equal(undefined);
    expect(secretBox(first).open(both.sealAgain(secretBox(second).seal('x')) ?? '')).to.equal('x');
    expect(() => both.open(secretBox(randomBytes(32)).seal('x'))).to.throw('SECRET_KEY');
  });

  it('seals all secrets anew by command, after which the old key is needed no more', async () => {
    const fresh = randomBytes(32);
    const { database, config } = instance.platform;
    const issue = { tenantId: 'x', orgId: null, roles: [], subject: 's', expiresInSeconds: 60 };
    const before = await instance.platform.tokens.issue(issue);
    const { waiter: client, taskQueue, signer } = instance.platform.temporal;
    const schedule = { tenantId: tenants[0]?.id ?? '', every: 'Monthly', hour: 3 } as const;
    await setBillingSchedule({ client, taskQueue, signer }, schedule);
    expect(await signedBy(fresh)).to.equal(false);
    expect(await sealWith(fresh, old)).to.deep.equal({
      code: 0,
      text:
        'signing keys sealed anew\t1\nsecrets of webhooks sealed anew\t2\n' +
        'secrets of workflows sealed anew\t2\n' +
        'schedules signed anew\t1\n',
    });
    expect(await signedBy(fresh)).to.equal(true);
    const box = secretBox(fresh);
    for (const tenant of tenants) {
      expect((await sealedOf(tenant)).map((sealed) => box.open(sealed))).to.deep.equal([
        secretText,
        secretText,
      ]);
    }
    const tokens = await openTokenKeys(database.platform, box, config.publicUrl);
    for (const token of [before, await tokens.issue(issue)]) {
      expect((await tokens.verify(token)).tenantId).to.equal('x');
    }
    // Once more, and without the old key: nothing is left to do.
    expect(await sealWith(fresh)).to.deep.equal({
      code: 0,
      text:
        'signing keys sealed anew\t0\nsecrets of webhooks sealed anew\t0\n' +
        'secrets of workflows sealed anew\t0\n' +
        'schedules signed anew\t1\n',
    });
  });

  it('names what it cannot open, and leaves it as it is', async () => {
    const sealedBefore = await Promise.all(tenants.map(sealedOf));
    const { code, text } = await sealWith(old);
    expect(code).to.equal(1);
    expect(text).to.match(/signing key|SECRET_KEY/);
    expect(await Promise.all(tenants.map(sealedOf))).to.deep.equal(sealedBefore);
  });
});
