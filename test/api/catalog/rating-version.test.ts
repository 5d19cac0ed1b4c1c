import { expect } from 'chai';
import type * as RatingContexts from '../../../src/queries/usage/rating-context.js';
import type { UsageEvent as RatingEvent } from '../../../src/rating/index.js';
import { external } from '../../support/servers/instance.js';
import { createAccount, createService, rate, usage } from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** What rating remembers is a module's: one that is loaded twice remembers as two processes do. */
const process = async (name: string): Promise<typeof RatingContexts> =>
  (await import(`../../../src/queries/usage/rating-context.js?${name}`)) as typeof RatingContexts;

describe('the version by which rating knows what it has read', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });

  /** Calls at 0.01 by the catalog and, for acme, at 2 by an exception card. */
  const prepare = async () => {
    const accountId = await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Calls', {
      inputAttributes: [{ name: 'zone', dimensionDataType: 'String' }],
    });
    const row = { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'QUANTITY', unitRate: 2 };
    // Without attributes of its own the line would have a copy of the catalog's.
    const priceableAttributes = [{ name: 'seats', dimensionDataType: 'Number' }];
    const { body } = await tenant
      .post(`${external}/contracts`, {
        masterAccountId: accountId,
        name: 'C',
        startDate: '2026-01-01',
        currency: 'USD',
        services: [
          { serviceId, priceableAttributes, rateCards: [{ currency: 'USD', rows: [row] }] },
        ],
      })
      .expect(201);
    const line = body.services[0].id as string;
    const path = `${external}/services/${serviceId}/priceable-attributes`;
    const { body: attributes } = await tenant.get(path).expect(200);
    const attributePath = `${path}/${attributes.content[0].id}`;
    return { accountId, serviceId, contractId: body.id as string, line, attributePath };
  };

  it('is raised where an attribute is renamed that exception cards price', async () => {
    const { serviceId, attributePath } = await prepare();
    const charge = async (dimensions: object) => {
      const { ratedTransactions, reason } = await rate(
        tenant,
        usage('acme', serviceId, { dimensions }),
      );
      return ratedTransactions[0]?.amount ?? reason;
    };
    // 3 x 2 = 6
    expect(await charge({ api_calls: '3' })).to.equal(6);
    await tenant.put(attributePath, { name: 'requests' }).expect(200);
    expect(await charge({ requests: '3' })).to.equal(6);
  });

  it('is raised for every process', async () => {
    const { serviceId, attributePath } = await prepare();
    const processes = [await process('first'), await process('second')];
    expect(processes[0]).to.not.equal(processes[1]);
    const event = { accountRef: 'acme', serviceId } as RatingEvent;
    const names = () =>
      Promise.all(
        processes.map(async ({ loadRatingContexts }) => {
          const contextOf = await loadRatingContexts(tenant.scope.db.read, tenant.id, [event]);
          const context = contextOf(event);
          const [line] = context?.lines ?? [];
          const [attribute] = context?.service?.attributes ?? [];
          return [line?.cards[0]?.rows[0]?.attributeName, attribute?.name];
        }),
      );
    const both = (name: string) => Array(2).fill([name, name]);
    expect(await names()).to.deep.equal(both('api_calls'));
    await tenant.put(attributePath, { name: 'requests' }).expect(200);
    expect(await names()).to.deep.equal(both('requests'));
  });

  it('is raised by whatever statement changes what it stands for, and by nothing else', async () => {
    const { accountId, serviceId } = await prepare();
    const versions = async () => {
      const { rows } = await tenant.scope.db.read.raw<{ rows: { version: string }[] }>(
        `select rating_version as version from service where id = ?
         union all select rating_version from account where id = ?`,
        [serviceId, accountId],
      );
      return rows.map(({ version }) => Number(version));
    };
    const raises: [statement: string, service: boolean, account: boolean][] = [
      [`update service set label = 'x'`, true, false],
      [`update account set default_currency = 'EUR'`, false, true],
      [`update service set updated_at = now()`, false, false],
      [`update contract set currency = 'EUR'`, false, true],
      [`update contract_service set service_instance_id = 'i'`, false, true],
      [`update attribute set label = 'x' where service_id is not null`, true, false],
      [`update rate_card set currency = 'EUR' where contract_service_id is not null`, false, true],
      [`update rate_card set currency = 'EUR' where service_id is not null`, true, false],
      [`update rate_card_row set label = 'x'`, true, true],
      [`update rate_card_row set label = 'x' where false`, false, false],
      [`delete from rate_card_row`, true, true],
    ];
    for (const [statement, isOfService, isOfAccount] of raises) {
      const [service = 0, account = 0] = await versions();
      await tenant.scope.db.transaction((trx) => trx.raw(statement));
      const raised = (await versions()).map((now, at) => now > (at === 0 ? service : account));
      expect(raised, statement).to.deep.equal([isOfService, isOfAccount]);
    }
  });

  it('is that of the tenant alone: another one with the same ids keeps its own', async () => {
    const { serviceId, accountId } = await prepare();
    const other = await instance.tenant();
    const copy = async (table: string, id: string) => {
      await instance.platform.database
        .forTenant(other.id, { actor: 'test', requestId: 'test' })
        .transaction((trx) =>
          trx.raw(`insert into ${table} (tenant_id, id, name) values (?, ?, 'same')`, [
            other.id,
            id,
          ]),
        );
    };
    await copy('service', serviceId);
    await copy('account', accountId);
    await tenant.scope.db.transaction((trx) => trx.raw(`update rate_card_row set label = 'x'`));
    const { rows } = await other.scope.db.read.raw<{ rows: { version: string }[] }>(
      'select rating_version as version from service union all select rating_version from account',
    );
    expect(rows.map(({ version }) => version)).to.deep.equal(['1', '1']);
  });

  it('moves with a contract: both accounts are told', async () => {
    const { contractId, accountId } = await prepare();
    const next = await createAccount(tenant, 'next');
    const versionOf = async (id: string) => {
      const row = await tenant.scope.db
        .read('account')
        .where({ id })
        .first<{ ratingVersion: string }>('ratingVersion');
      return Number(row.ratingVersion);
    };
    const [old, fresh] = [await versionOf(accountId), await versionOf(next)];
    await tenant.put(`${external}/contracts/${contractId}`, { masterAccountId: next }).expect(200);
    expect(await versionOf(accountId)).to.be.greaterThan(old);
    expect(await versionOf(next)).to.be.greaterThan(fresh);
  });
});
