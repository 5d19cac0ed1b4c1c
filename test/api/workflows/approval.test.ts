import { expect } from 'chai';
import request from 'supertest';
import { accessKeyId, createAccessKey } from '../../../src/access/access-keys.js';
import { decideApproval } from '../../../src/commands/workflows/approval.js';
import { newId } from '../../../src/kernel/id.js';
import type { Decision } from '../../../src/messages/definitions/approval.js';
import { Account } from '../../../src/models/accounts/account.js';
import { Approval } from '../../../src/models/workflows/approval.js';
import { runFlow, onboarding } from '../../support/billing/flows.js';
import { external, type TestTenant } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const path = '/v1/approvals';

/** An approval as the task of a workflow makes it. */
const ask = ({ scope }: TestTenant, changes: Partial<Approval> = {}): Promise<string> =>
  scope.db.transaction(async (trx) => {
    const approval = await Approval.query(trx)
      .forTenant(scope.tenantId)
      .insert({
        definitionId: newId(),
        workflowName: 'large-contract',
        executionId: newId(),
        task: '/do/1/ask',
        title: 'A large contract',
        details: { amount: 50_000, before: { limit: 10 }, after: { limit: 20 } },
        quorum: 1,
        notStarter: false,
        startedBy: 'somebody',
        onTimeout: 'reject',
        dueAt: new Date(Date.now() + 3_600_000),
        ...changes,
      });
    return approval.id;
  });

describe('approvals', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });

  const account = async (): Promise<string> =>
    (await runFlow(tenant, 'account/create', onboarding({ Company_Name: 'Acme' }))).output.id;
  const status = async (id: string): Promise<string | undefined> => {
    const { db, tenantId } = tenant.scope;
    return (await Account.query(db.read).forTenant(tenantId).findOne({ id }))?.approvalStatus;
  };

  // spec/beyond.md R350, R351
  it('list what waits, the newest first, with what would change', async () => {
    const accountId = await account();
    const service = (
      await tenant.post(`${external}/services`, { name: 'API', serviceType: 'Usage' }).expect(201)
    ).body;
    const taskId = await ask(tenant);
    const { data, pagination } = (await tenant.get(`${path}?status=pending`).expect(200)).body;
    expect(data.map(({ id }: { id: string }) => id)).to.deep.equal([taskId, service.id, accountId]);
    expect(pagination.total).to.equal(3);
    expect(data[0]).to.deep.include({
      kind: 'workflow',
      title: 'A large contract',
      before: { limit: 10 },
      after: { limit: 20 },
      roles: ['OPERATOR', 'ADMIN'],
    });
    expect(data[0].execution).to.include({ task: '/do/1/ask', onTimeout: 'reject' });
    expect(data[2]).to.deep.include({
      kind: 'account',
      status: 'pending',
      before: { approvalStatus: 'Draft' },
      after: { approvalStatus: 'Approved' },
      execution: null,
    });
    expect(data[2].title).to.match(/^Account .*Acme$/);
    const pages = [];
    for (const offset of [0, 1, 2]) {
      const { body } = await tenant.get(`${path}?limit=1&offset=${offset}`).expect(200);
      expect(body.pagination.total).to.equal(3);
      pages.push(body.data[0].id);
    }
    expect(pages).to.deep.equal([taskId, service.id, accountId]);
    const services = (await tenant.get(`${path}?kind=service`).expect(200)).body;
    expect(services.data).to.have.length(1);
    await tenant.get(`${path}?status=open`).expect(400);
    await tenant.get(`${path}?kind=payment`).expect(400);
  });

  // spec/beyond.md R352
  it('approve a record as its flow does, once', async () => {
    const id = await account();
    const body = { decision: 'approve', reason: 'Known.' };
    const done = (await tenant.post(`${path}/${id}`, body).expect(200)).body;
    expect(done).to.deep.include({ id, status: 'approved', kind: 'account' });
    expect(done.after).to.deep.equal({ approvalStatus: 'Approved', approvedBy: 'tester' });
    expect(done.decisions[0]).to.include({ ...body, decidedBy: 'tester' });
    expect(await status(id)).to.equal('Approved');
    await tenant.post(`${path}/${id}`, { decision: 'reject' }).expect(409);
    await runFlow(tenant, 'account/approve', { ID_Account: id }, 409);
    const { data } = (await tenant.get(`${path}?status=approved`).expect(200)).body;
    expect(data).to.deep.equal([done]);
    const executions = await tenant
      .get('/v1/workflows/decide-approval/executions?status=completed')
      .expect(200);
    expect(executions.body.data).to.have.length(1);
    const audit = await tenant.get('/v1/audit?entity=approvalDecision').expect(200);
    expect(audit.body.data).to.have.length(1);
  });

  // spec/beyond.md R352
  it('reject a record, which its flow can approve afterwards', async () => {
    const id = await account();
    const done = (await tenant.post(`${path}/${id}`, { decision: 'reject' }).expect(200)).body;
    expect(done).to.deep.include({ status: 'rejected', after: { approvalStatus: 'Rejected' } });
    expect(await status(id)).to.equal('Rejected');
    await tenant.post(`${path}/${id}`, { decision: 'approve' }).expect(409);
    await runFlow(tenant, 'account/approve', { ID_Account: id });
    expect((await tenant.get(`${path}/${id}`).expect(200)).body.status).to.equal('approved');
  });

  // spec/beyond.md R352
  it('count one of two decisions at the same moment', async () => {
    for (const id of [await account(), await ask(tenant)]) {
      const answers = await Promise.all(
        ['approve', 'reject'].map((decision) => tenant.post(`${path}/${id}`, { decision })),
      );
      expect(answers.map((answer) => answer.status).sort()).to.deep.equal([200, 409]);
      const { decisions } = (await tenant.get(`${path}/${id}`).expect(200)).body;
      expect(decisions).to.have.length(1);
    }
  });

  it('answer a repetition under a key with the first answer', async () => {
    const id = await account();
    const send = () =>
      tenant.post(`${path}/${id}`, { decision: 'approve' }).set('Idempotency-Key', 'once');
    const first = await send().expect(200);
    expect((await send().expect(200)).body).to.deep.equal(first.body);
  });

  it('refuse what cannot be approved, and a body that says something else', async () => {
    const draft = await tenant
      .post(`${external}/run/billing/account/create?draftMode=true`, onboarding())
      .expect(200);
    await tenant.get(`${path}/${draft.body.output.id}`).expect(404);
    await tenant.post(`${path}/${draft.body.output.id}`, { decision: 'approve' }).expect(404);
    expect((await tenant.get(path).expect(200)).body.data).to.deep.equal([]);
    const id = await account();
    await tenant.put(`${external}/accounts/${id}/deactivate`).expect(200);
    await tenant.post(`${path}/${id}`, { decision: 'approve' }).expect(409);
    await tenant.post(`${path}/${id}`, { decision: 'perhaps' }).expect(400);
    await tenant.post(`${path}/${id}`, { decision: 'approve', colour: 1 }).expect(400);
    await tenant.post(`${path}/${newId()}`, { decision: 'approve' }).expect(404);
    const late = await ask(tenant, { dueAt: new Date(Date.now() - 1000) });
    await tenant.post(`${path}/${late}`, { decision: 'approve' }).expect(409);
  });

  it('are those of their tenant', async () => {
    const other = await instance.tenant();
    for (const id of [await account(), await ask(tenant)]) {
      await other.get(`${path}/${id}`).expect(404);
      await other.post(`${path}/${id}`, { decision: 'approve' }).expect(404);
      await tenant.post(`${path}/${id}`, { decision: 'approve' }).expect(200);
    }
  });

  // spec/beyond.md R353
  it('need one of their roles exactly, and perhaps somebody else', async () => {
    const operator = await instance.tenant(['OPERATOR'], tenant.id);
    const reader = await instance.tenant(['READER'], tenant.id);
    const service = (
      await tenant.post(`${external}/services`, { name: 'API', serviceType: 'Usage' }).expect(201)
    ).body;
    const approve = { decision: 'approve' };
    await operator.post(`${path}/${service.id}`, approve).expect(403);
    await reader.post(`${path}/${await account()}`, approve).expect(403);
    const ofOperators = await ask(tenant, { roles: ['OPERATOR'] });
    await tenant.post(`${path}/${ofOperators}`, approve).expect(403);
    await operator.post(`${path}/${ofOperators}`, approve).expect(200);
    const own = await ask(tenant, { notStarter: true, startedBy: 'tester' });
    await tenant.post(`${path}/${own}`, approve).expect(403);
    await tenant.post(`${path}/${own}`, { decision: 'reject' }).expect(200);
  });

  // spec/beyond.md R353
  it('count the roles of whoever decides at that moment, not those of when it was asked', async () => {
    const db = instance.platform.database.platform;
    const [kept, taken] = await Promise.all(
      ['kept', 'taken'].map((name) =>
        createAccessKey(db, { tenantId: tenant.id, orgId: null, roles: ['OPERATOR'], name }),
      ),
    );
    const id = await ask(tenant, { roles: ['OPERATOR'] });
    await db('accessKey')
      .where({ id: accessKeyId(taken ?? '') })
      .update({ roles: ['READER'] });
    const decide = (key = '') =>
      request(instance.url)
        .post(`${path}/${id}`)
        .set('Authorization', `Bearer ${key}`)
        .send({ decision: 'approve' });
    expect((await decide(taken)).status).to.equal(403);
    const { body } = await tenant.get(`${path}/${id}`).expect(200);
    expect(body).to.deep.include({ status: 'pending', decisions: [] });
    expect((await decide(kept)).status).to.equal(200);
  });

  // spec/beyond.md R354
  it('wait for as many different people as the quorum says', async () => {
    const by = (actor: string, approvalId: string, decision: Decision) =>
      decideApproval(
        { ...tenant.scope, actor },
        { approvalId, decision, reason: null, roles: ['ADMIN'] },
      );
    const id = await ask(tenant, { quorum: 2 });
    await tenant.post(`${path}/${id}`, { decision: 'approve' }).expect(200);
    await tenant.post(`${path}/${id}`, { decision: 'approve' }).expect(409);
    expect((await tenant.get(`${path}/${id}`).expect(200)).body.status).to.equal('pending');
    expect((await by('ann', id, 'approve')).status).to.equal('approved');
    const other = await ask(tenant, { quorum: 3 });
    await by('ann', other, 'approve');
    expect((await by('bob', other, 'reject')).status).to.equal('rejected');
    await tenant.post(`${path}/${other}`, { decision: 'approve' }).expect(409);
  });
});
