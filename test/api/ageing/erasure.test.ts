import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { runBilling } from '../../support/billing/billing-run.js';
import {
  createService,
  event,
  rate,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { placeLegalHold, releaseLegalHold } from '../../../src/models/access/legal-hold.js';
import { eraseRows } from '../../../src/models/ageing/erased-rows.js';
import { insertErasure, type ErasedPortion } from '../../../src/models/ageing/erasure.js';
import { verifyAuditChain } from '../../../src/queries/access/audit-chain.js';
import { runDurabill, settingsOf } from '../../support/servers/command-line.js';
import { external, type TestTenant } from '../../support/servers/instance.js';
import { openReceiver, waitUntilDelivered } from '../../support/servers/receiver.js';
import { asOwner, listTables } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const person = {
  name: 'Wilhelmine Quastenberg',
  firstName: 'Wilhelmine',
  lastName: 'Quastenberg',
  email: 'w.quastenberg@post.example',
  formerEmail: 'wilma77@alt.example',
  phone: '+49 7731 554433',
  line1: 'Uferweg 117b',
  city: 'Quellendorf',
  taxId: 'DE998877665',
  ref: 'cust-wilma-quasten',
  note: 'likes calls in the evening',
} as const;

const start = {
  Company_Name: person.name,
  First_Name: person.firstName,
  Last_Name: person.lastName,
  Line1: person.line1,
  City: person.city,
  State: 'Sachsen-Anhalt',
  Country: 'DE',
  Currency: 'EUR',
  Zip_Code: '06386',
  ExternalId: person.ref,
};

// spec/platform.md R104, R105
describe('the erasure of a person', function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance, { forEachTest: true });

  /** Where the tenant's rows hold one of these texts: `table: text`. */
  const findTexts = (of: TestTenant, texts: readonly string[]): Promise<string[]> =>
    asOwner(instance.databaseUrl, async (client) => {
      const found: string[] = [];
      for (const { name } of (await listTables(client)).filter(({ hasTenant }) => hasTenant)) {
        for (const text of texts) {
          const { rows } = await client.query<{ row: string }>(
            `select to_jsonb(t)::text as row from ${name} as t
             where tenant_id = $1 and strpos(lower(to_jsonb(t)::text), lower($2)) > 0 limit 1`,
            [of.id, text],
          );
          if (rows[0]) found.push(`${name}: ${text} in ${rows[0].row.slice(0, 300)}`);
        }
      }
      return found;
    });
  const erase = (accountId: string) =>
    tenant.post('/v1/workflows/erase-person/execute', { data: { accountId } });
  const verify = () => {
    const trail = { actor: 'x', requestId: 'x' };
    const { read } = instance.platform.database.forTenant(tenant.id, trail);
    return verifyAuditChain(read, tenant.id);
  };

  /** A customer of two months with everything that may tell of it. */
  async function makePerson() {
    const receiver = await openReceiver();
    // A receiver that says what it was told.
    receiver.answer = (request, response) => void response.writeHead(200).end(request.body);
    const { body: webhook } = await tenant
      .post('/v1/webhooks', {
        url: receiver.url,
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        events: ['workflow.completed', 'usage.rated', 'usage.rejected', 'payment.saved'],
      })
      .expect(201);
    const rates = [
      { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'QUANTITY', unitRate: 0.01 },
    ];
    const serviceId = await createService(tenant, 'Calls', {
      currency: 'EUR',
      rateCards: [{ currency: 'EUR', rows: rates }],
    });
    // Before the account is there: rejected, with its reference in the reason.
    const early = await rate(tenant, usage(person.ref, serviceId));
    const path = `${external}/run/billing/account/create`;
    const made = await tenant.post(path, start).set('Idempotency-Key', 'wilma').expect(200);
    const accountId = String(made.body.output.id);
    await tenant.post(path, start).expect(409);
    const account = `${external}/accounts/${accountId}`;
    const contact = { email: person.formerEmail, kind: 'Primary' };
    await tenant.put(account, { contactInfoList: [contact] }).expect(200);
    await tenant
      .put(account, {
        contactInfoList: [],
        number: 'A-1001',
        gst: person.taxId,
        profile: { email: person.email, phone: person.phone, description: person.note },
      })
      .expect(200);
    await tenant
      .post(`${external}/contracts`, {
        masterAccountId: accountId,
        name: `Contract of ${person.name}`,
        description: person.note,
      })
      .set('Idempotency-Key', 'contract')
      .expect(201);
    const message = usage(person.ref, serviceId, {
      customer: { mail: person.email },
      comment: `called by ${person.firstName} ${person.lastName}`,
    });
    const event = await rate(tenant, message);
    await send(tenant, message);
    const other = { ...start, Company_Name: 'Quarz AG', ExternalId: 'quarz', City: 'Ulm' };
    await tenant
      .post(path, { ...other, First_Name: 'Otto', Last_Name: 'Q', Line1: 'X' })
      .expect(200);
    await rate(tenant, usage('quarz', serviceId));
    await waitUntilRated(tenant);
    const run = await runBilling(tenant, '2026-03-01', '2026-03-31', { accountId });
    await tenant
      .post(`${external}/payments`, {
        accountId,
        amount: 1,
        currency: 'EUR',
        paymentDate: '2026-04-02',
        paymentMethod: 'Cash',
        paymentType: 'Pay In',
        paymentReference: 'P-1',
        comments: `paid by ${person.name}`,
        participantName: person.name,
      })
      .expect(201);
    const [from, to] = ['2026-03-01', '2026-04-01'];
    const data = {
      name: `Offer to ${person.name}`,
      from,
      to,
      accountIds: [accountId],
      changes: [],
    };
    await tenant.post('/v1/workflows/reprice/execute', { data }).expect(200);
    await waitUntilDelivered(tenant, String(webhook.id));
    await receiver.close();
    return { accountId, event, early, invoiceId: run.invoiceIds[0] ?? '' };
  }

  it('leaves nothing of it in any table, and all of the books', async () => {
    const { accountId, event: before, early, invoiceId } = await makePerson();
    const texts = Object.values(person);
    const told = await findTexts(tenant, texts);
    const tables = [...new Set(told.map((each) => each.split(':')[0]))];
    expect(tables).to.include.members([
      'account',
      'address',
      'audit',
      'contract',
      'execution',
      'idempotency_key',
      'payment',
      'repricing',
      'usage_event',
      'usage_message',
      'webhook_attempt',
      'webhook_event',
    ]);
    const invoice = (await tenant.get(`${external}/invoices/${invoiceId}`).expect(200)).body;
    const pdf = (await tenant.get(`${external}/invoices/${invoiceId}/pdf`).expect(200)).body;
    const explained = (await event(tenant, String(before.id))).ratedTransactions;
    const others = await findTexts(tenant, ['quarz']);
    const totals = (await tenant.get('/v1/usage?groupBy=account').expect(200)).body;
    expect((await erase(accountId).expect(200)).body.error.message).to.match(/active/);
    await tenant.put(`${external}/accounts/${accountId}/deactivate`).expect(200);
    const { body: done } = await erase(accountId).expect(200);
    expect(done.status, JSON.stringify(done.error)).to.equal('completed');
    expect(done.output.accountId).to.equal(accountId);
    expect(done.output.erased).to.include.keys('executions', 'webhookEvents', 'auditEntries');

    expect(await findTexts(tenant, texts)).to.deep.equal([]);
    expect((await findTexts(tenant, ['quarz'])).length).to.equal(others.length);

    const { body: account } = await tenant.get(`${external}/accounts/${accountId}`).expect(200);
    expect(account.data).to.include({ Name: '[erased]', Number: 'A-1001', Gst: null });
    const shown = await event(tenant, String(before.id));
    expect(shown.message).to.deep.equal({
      externalTransactionId: before.externalTransactionId,
      serviceId: before.serviceId,
      eventTimestamp: before.message.eventTimestamp,
      billingAccountRef: `erased-${accountId}`,
      dimensions: before.message.dimensions,
    });
    expect(shown.ratedTransactions).to.deep.equal(explained);
    const rejected = await event(tenant, String(early.id));
    expect(rejected).to.include({ status: 'rejected', reason: '[erased]' });
    expect((await tenant.get('/v1/usage?groupBy=account').expect(200)).body).to.deep.equal(totals);
    const paper = await tenant.get(`${external}/invoices/${invoiceId}/pdf`).expect(200);
    expect(Buffer.compare(paper.body as Buffer, pdf as Buffer)).to.equal(0);
    const kept = (await tenant.get(`${external}/invoices/${invoiceId}`).expect(200)).body;
    const accountName = '[erased]';
    expect({ ...kept, updatedAt: null }).to.deep.equal({
      ...invoice,
      accountName,
      updatedAt: null,
    });
    expect(await verify()).to.include({ fault: null });
    const { body: audit } = await tenant
      .get(`/v1/audit?entity=account&id=${accountId}`)
      .expect(200);
    const actions = (audit.data as { action: string }[]).map(({ action }) => action);
    expect(actions).to.include('erase');

    // Again, by its id, finds nothing new; under the former name there is nobody.
    const again = (await erase(accountId).expect(200)).body;
    expect(again.status, JSON.stringify(again.error)).to.equal('completed');
    expect(await verify()).to.include({ fault: null });
    await erase(person.ref).expect(400);
  });

  it('leaves alone what a running execution would call to take back what it did', async () => {
    const { accountId } = await makePerson();
    await tenant.put(`${external}/accounts/${accountId}/deactivate`).expect(200);
    const document = { dsl: '1.0.0', namespace: 'test', name: 'rests', version: '1.0.0' };
    const definition = { document, do: [{ rest: { wait: 'PT1H' } }] };
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const path = '/v1/workflows/rests';
    const { body } = await tenant.post(`${path}/execute`, { data: {}, async: true }).expect(200);
    const execution = `${path}/executions/${body.executionId}`;
    while ((await tenant.get(`${execution}/timeline`)).body.data?.length !== 1);
    const calls = JSON.stringify([{ seq: 1, with: { body: person.email } }]);
    const kept = await asOwner(instance.databaseUrl, async (client) => {
      const of = [tenant.id, body.executionId];
      const sql = `insert into workflow_undo (tenant_id, execution_id, block, calls) values ($1, $2, 9, $3)`;
      await client.query(sql, [...of, calls]);
      const done = await erase(accountId).expect(200);
      expect(done.body.status, JSON.stringify(done.body.error)).to.equal('completed');
      const look = 'select calls from workflow_undo where tenant_id = $1 and execution_id = $2';
      return (await client.query<{ calls: string }>(look, of)).rows;
    });
    expect(kept).to.deep.equal([{ calls }]);
    await tenant.post(`${execution}/cancel`).expect(200);
  });

  it('goes through the tasks of an execution in portions, too', async () => {
    const document = { dsl: '1.0.0', namespace: 'test', name: 'five', version: '1.0.0' };
    const task = { set: { mail: person.email } };
    const tasks = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ [name]: task }));
    await tenant.post('/v1/workflows', { definition: { document, do: tasks } }).expect(201);
    const { body } = await tenant.post('/v1/workflows/five/execute', { data: {} }).expect(200);
    const { db } = tenant.scope;
    const id = randomUUID();
    const texts = [person.email];
    const sought = { id, accountId: randomUUID(), marks: texts, wholes: texts, parts: texts };
    await db.transaction((trx) => insertErasure(trx, tenant.id, sought));
    const portionFrom = (after: string | null) =>
      db.transaction((trx) =>
        eraseRows(trx, tenant.id, { id, place: { table: 1, after }, limit: 2 }),
      );
    const rows: number[] = [];
    let place: string | null = null;
    do {
      const portion: ErasedPortion = await portionFrom(place);
      expect(portion.name).to.equal('workflowTasks');
      rows.push(portion.rows);
      place = portion.next?.after ?? null;
    } while (place !== null);
    expect(rows).to.deep.equal([2, 2, 1, 0]);
    // As a process of the version before has left it: behind all of the execution.
    const behind = { name: 'workflowTasks', rows: 0, next: { table: 2, after: null } };
    expect(await portionFrom(String(body.executionId))).to.deep.equal(behind);
  });

  it('tells of an entry of the audit that somebody else has changed in its name', async () => {
    const { accountId } = await makePerson();
    await tenant.put(`${external}/accounts/${accountId}/deactivate`).expect(200);
    expect((await erase(accountId).expect(200)).body.status).to.equal('completed');
    await asOwner(instance.databaseUrl, async (client) => {
      await client.query('set session_replication_role = replica');
      await client.query(
        `insert into audit_redaction (tenant_id, audit_id, recorded_in, hash)
         select tenant_id, audit_id, recorded_in + 1000000, sha256('x') from audit_redaction
         where tenant_id = $1 limit 1`,
        [tenant.id],
      );
    });
    expect((await verify()).fault).to.match(/did not record what was erased in its name/);
    const { read } = tenant.scope.db;
    const codeOf = (sql: string) =>
      read.raw(sql).then(
        () => undefined,
        (error: { code?: string }) => error.code,
      );
    await read.raw(`select set_config('app.erasing', 'on', false)`);
    expect(await codeOf(`update audit set after = null`)).to.equal('42501');
    expect(await codeOf(`delete from audit_redaction`)).to.equal('42501');
    const sql = `select * from erase_audit('${tenant.id}', '${accountId}', 0, 10)`;
    expect(await codeOf(sql)).to.equal('42501');
  });

  it('is refused under a legal hold, for open invoices, and without the role', async () => {
    const { accountId } = await makePerson();
    await tenant.put(`${external}/accounts/${accountId}/deactivate`).expect(200);
    const operator = await instance.tenant(['OPERATOR'], tenant.id);
    const body = { data: { accountId } };
    await operator.post('/v1/workflows/erase-person/execute', body).expect(403);
    const { platform } = instance.platform.database;
    const hold = { tenantId: tenant.id, reason: 'case 7', placedBy: 'x', placedAt: new Date() };
    await platform.transaction((trx) => placeLegalHold(trx, hold));
    const held = (await erase(accountId).expect(200)).body;
    expect(held.error).to.include({ code: 'CONFLICT', status: 409 });
    expect(held.error.message).to.match(/legal hold/);
    expect(await findTexts(tenant, [person.email])).to.not.deep.equal([]);
    await platform.transaction((trx) => releaseLegalHold(trx, tenant.id));
    await asOwner(instance.databaseUrl, (client) =>
      client.query(`update invoice set balance = amount where tenant_id = $1`, [tenant.id]),
    );
    expect((await erase(accountId).expect(200)).body.error.message).to.match(/is open/);
    await tenant
      .post('/v1/workflows/erase-person/execute', { data: { accountId: 'nobody' } })
      .expect(400);
  });

  it('is a command, too, which asks for the account twice', async () => {
    const { accountId } = await makePerson();
    await tenant.put(`${external}/accounts/${accountId}/deactivate`).expect(200);
    const settings = { ...settingsOf(instance), PUBLIC_URL: instance.url };
    const run = (...words: string[]) =>
      runDurabill(settings, 'tenant', 'erase', tenant.id, '--account', person.ref, ...words);
    const asked = await run();
    expect(asked.code).to.equal(1);
    expect(asked.errors).to.match(/--confirm cust-wilma-quasten/);
    const done = await run('--confirm', person.ref);
    expect(done.code, done.errors).to.equal(0);
    expect(done.output).to.match(/^executions\t\d+$/m);
    expect(await findTexts(tenant, Object.values(person))).to.deep.equal([]);
  });
});
