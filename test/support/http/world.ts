import { newId } from '../../../src/kernel/id.js';
import { randomUUID } from 'node:crypto';
import { addMcpClient } from '../../../src/access/oauth/mcp-clients.js';
import { exampleIds, examples } from '../../../src/schemas/openapi/examples.js';
import type { Operation } from '../../../src/schemas/http/operation.js';
import { declaredOperations } from './answers.js';
import { external, type TestTenant } from '../servers/instance.js';
import { storeInvoice } from '../billing/invoices.js';
import { openReceiver, waitUntilDelivered, type Receiver } from '../servers/receiver.js';
import { waitUntilRated } from '../billing/usage.js';

/** What of a tenant the paths, queries and bodies of requests name. */
export interface Places {
  readonly tenant: { readonly id: string };
  /** The id for each path parameter; `line.` before those that depend on a contract line. */
  readonly params: Readonly<Record<string, string>>;
  /** The id for each property of a body or query that refers to a record. */
  readonly references: Readonly<Record<string, string>>;
}

/**
 * One of everything that a tenant can own. Every natural key and name in it ends with the tenant's
 * id, so that nothing of it can turn up elsewhere unnoticed.
 */
export interface World extends Places {
  readonly tenant: TestTenant;
}

/** Path parameters whose values all tenants share. */
export const sharedParams = new Set(
  'currency name flowId workflowId jti kind job versionNo'.split(' '),
);

const isDeclared = (id: string): boolean => declaredOperations.some((one) => one.id === id);

/** Texts of an example that the tenant's id is added to: whatever names a record. */
const named = new Set([
  'externalId',
  'number',
  'serviceInstanceId',
  'line1',
  'paymentReference',
  'ExternalId',
  'payment_reference',
  'key',
  'externalTransactionId',
  'title',
  'customerId',
]);

/** An example as this tenant writes it. */
export function ofTenant(example: object, tenantId: string): object {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [
        key,
        named.has(key) && typeof child === 'string' ? `${child} ${tenantId}` : copy(child),
      ]),
    );
  };
  return copy(example) as object;
}

/**
 * Builds it through the API: account, service, contract with an exception price, rated and delivered usage. The
 * workers of the instance must run.
 */
export async function buildWorld(tenant: TestTenant): Promise<World> {
  const make = async (path: string, example: object, changes: object = {}) => {
    const body = { ...ofTenant(example, tenant.id), ...changes };
    return (await tenant.post(`${external}${path}`, body).expect(201)).body;
  };
  const idOf = async (path: string, body: object): Promise<string> =>
    (await tenant.post(path, body).expect(201)).body.id;
  const name = (text: string) => ({ name: `${text} ${tenant.id}` });
  const account = await make('/accounts', examples.account, name('Acme'));
  const params: Record<string, string> = {
    accountId: account.id,
    addressId: account.addresses[0].id,
    approvalId: account.id,
    externalId: account.externalId,
    currency: 'USD',
    kind: 'rated-transactions',
    job: 'billing',
    name: 'netTerm',
    versionNo: '1',
    // Tokens are not stored: an id of one is whosever it is.
    jti: '01939c6e-7a00-4000-8000-00000000beef',
  };
  const references: Record<string, string> = {
    id: account.id,
    accountId: account.id,
    masterAccountId: account.id,
    billingAccountId: account.id,
    accountExtId: account.externalId,
  };
  if (isDeclared('createService')) {
    const service = await make('/services', examples.service, name('Data API'));
    Object.assign(params, {
      serviceId: service.id,
      attributeId: service.priceableAttributes[0].id,
      pricingLogicId: service.pricingLogic[0].id,
      computationId: service.pricingLogic[0].id,
    });
    Object.assign(references, {
      serviceId: service.id,
      templateId: service.id,
      sourceServiceId: service.id,
      priceDimId: service.priceableAttributes[0].id,
    });
    await tenant
      .put(`/api/v1/service-layout/${service.id}`, ofTenant(examples.serviceLayout, tenant.id))
      .expect(200);
  }
  if (isDeclared('createContract')) await addContract(tenant, params, references, make);
  const payment = await make('/payments', examples.payment, { accountId: account.id });
  params['paymentId'] = payment.id;
  await addExecution(tenant, params, references);
  const wallet = await make('/wallets', examples.wallet, { accountId: account.id });
  params['walletId'] = wallet.id;
  const grant = { ...examples.walletGrant, externalId: `welcome ${tenant.id}` };
  params['wallet.grantId'] = await idOf(`/v1/wallets/${wallet.id}/grants`, grant);
  const adjustment = { ...examples.adjustment, accountId: account.id };
  params['adjustmentId'] = await idOf('/v1/adjustments', adjustment);
  const alert = { ...examples.alert, name: `Half ${tenant.id}`, accountId: account.id };
  params['alertId'] = await idOf('/v1/alerts', alert);
  const hold = { ...examples.hold, accountId: account.id, key: `session ${tenant.id}` };
  params['holdId'] = await idOf('/v1/holds', hold);
  const itemId = newId();
  references['itemId'] = itemId;
  params['invoiceId'] = await storeInvoice(tenant.scope, {
    invoice: {
      accountId: account.id,
      invoiceNo: `INV-1 ${tenant.id}`,
      amount: '5',
      balance: '5',
      currency: payment.currency,
    },
    items: [{ id: itemId, description: `API calls ${tenant.id}`, amount: '5', balance: '5' }],
    pdf: { fileName: `INV-1 ${tenant.id}.pdf`, bytes: Buffer.from('%PDF-1.7') },
  });
  references['invoiceId'] = params['invoiceId'];
  const period = { periodStart: '2026-03-01', periodEnd: '2026-03-31', dryRun: true };
  const billing = await tenant
    .post('/v1/workflows/billing-run/execute', { data: { ...period, accountId: account.id } })
    .expect(200);
  for (const named of [params, references]) named['billingRunId'] = billing.body.executionId;
  await tenant.post(`/v1/payments/${payment.id}/apply`, {}).expect(200);
  params['taxRateId'] = await idOf('/v1/tax-rates', { code: `VAT ${tenant.id}`, rate: 19 });
  // Its name is unique in a tenant, which may have two worlds.
  const { definition } = examples.workflow;
  const document = { ...definition.document, name: `large-${tenant.id.replace(/\W/g, '-')}` };
  await tenant.post('/v1/workflows', { definition: { ...definition, document } }).expect(201);
  const run = await tenant
    .post(`/v1/workflows/${document.name}/execute`, { data: { amount: 20_000 } })
    .expect(200);
  Object.assign(params, {
    'own.workflowId': document.name,
    'own.executionId': run.body.executionId,
  });
  await addRecord(tenant, params);
  await addOauthClient(tenant, references);
  params['grantId'] = await addGrant(tenant, references);
  const accessKey = { name: `key ${tenant.id}`, roles: ['READER'] };
  params['keyId'] = await idOf('/v1/access-keys', accessKey);
  await addToolCall(tenant);
  await addWebhook(tenant, params);
  if (isDeclared('getRatedTransaction')) await addUsage(tenant, params, references);
  await waitUntilDelivered(tenant, params['webhookId'] ?? '');
  return { tenant, params, references };
}

/** A flow that was run, and what its start nodes refer to. */
async function addExecution(
  tenant: TestTenant,
  params: Record<string, string>,
  references: Record<string, string>,
): Promise<void> {
  const body = { id: params['accountId'], description: tenant.id };
  const run = await tenant.post(`${external}/run/billing/account/edit`, body).expect(200);
  const flows = await tenant.get('/v1/workflows').expect(200);
  Object.assign(params, {
    executionId: run.body.flowExecutionId,
    workflowId: 'account-edit',
    flowId: flows.body.data[0].id,
  });
  Object.assign(references, {
    account_id: params['accountId'],
    master_account_id: params['accountId'],
    ID_Account: params['accountId'],
    ID_Contract: params['contractId'],
    ID_Service: params['serviceId'],
    Service_ID: params['serviceId'],
  });
}

/** A record type and a record of it. */
async function addRecord(tenant: TestTenant, params: Record<string, string>): Promise<void> {
  const name = `subscription ${tenant.id}`;
  const type = await tenant.post('/v1/mobjects', { ...examples.recordType, name }).expect(201);
  params['mobjectId'] = type.body.id;
  const path = `/v1/mobjects/${params['mobjectId'] ?? ''}/mdata`;
  params['mdataId'] = (await tenant.post(path, examples.record).expect(201)).body.id;
}

let receiver: Promise<Receiver> | undefined;

/** Where the webhooks of all worlds lead; it does not keep the process. */
function worldReceiver(): Promise<Receiver> {
  receiver ??= openReceiver({ keepsProcess: false });
  return receiver;
}

/** A webhook, and a delivery to it that has arrived. */
async function addWebhook(tenant: TestTenant, params: Record<string, string>): Promise<void> {
  const { url: base, until } = await worldReceiver();
  const url = `${base}/${tenant.id}`;
  const { body } = await tenant.post('/v1/webhooks', { ...examples.webhook, url }).expect(201);
  params['webhookId'] = body.id;
  const test = await tenant.post(`/v1/webhooks/${String(body.id)}/test`).expect(200);
  params['deliveryId'] = test.body.id;
  await until((received) => received.some(({ id }) => id === test.body.id));
  await waitUntilDelivered(tenant, body.id);
}

/** A call of a tool. */
const addToolCall = async (tenant: TestTenant): Promise<void> => {
  const call = { name: 'listAccounts', arguments: { size: 1 } };
  await tenant
    .post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })
    .expect(200);
};

/** Where the platform's own tables are. */
const homeOf = ({ scope: { home, db } }: TestTenant) => (home ?? db).read;

/** An OAuth client; it can register while the instance has an MCP client. */
export async function addOauthClient(
  tenant: TestTenant,
  references: Record<string, string>,
): Promise<void> {
  const name = tenant.id;
  await addMcpClient(homeOf(tenant), { name, authType: 'per_user_oauth' });
  const { body } = await tenant
    .post('/api/oauth/per-user/register', examples.registration)
    .expect(201);
  references['client_id'] = body.client_id;
}

/** What that client was allowed. */
export async function addGrant(
  tenant: TestTenant,
  references: Record<string, string>,
): Promise<string> {
  const [{ id = '' } = {}] = await homeOf(tenant)('oauthGrant')
    .insert({
      id: randomUUID(),
      tenantId: tenant.scope.tenantId,
      clientId: references['client_id'],
      subject: `user ${tenant.id}`,
      roles: ['ADMIN'],
      scopes: ['mcp:read'],
      resource: 'x',
      createdAt: new Date(),
      expiresAt: new Date(Date.now() + 86_400_000),
    })
    .returning<{ id: string }[]>('id');
  return id;
}

/** One rated event. */
async function addUsage(
  tenant: TestTenant,
  params: Record<string, string>,
  references: Record<string, string>,
): Promise<void> {
  references['billingAccountRef'] = params['externalId'] ?? '';
  const event = bodyIn({ tenant, params, references }, examples.usageEvent);
  await tenant.post('/v1/ingest/usage', event).expect(200);
  await waitUntilRated(tenant, 1);
  const events = await tenant.get('/v1/usage-events?status=rated').expect(200);
  params['id'] = events.body.data[0].id;
  const { message } = event as { message: object };
  const amended = { message, reason: 'As it was.' };
  const { body: done } = await tenant
    .post(`/v1/usage-events/${params['id']}/amend`, amended)
    .expect(200);
  params['correctionId'] = done.correctionId;
  const data = { name: 'Nothing', from: '2026-03-01', to: '2026-04-01', changes: [] };
  const { body: repriced } = await tenant
    .post('/v1/workflows/reprice/execute', { data })
    .expect(200);
  params['repricingId'] = repriced.output.repricingId;
  references['eventId'] = params['id'] ?? '';
  const { body } = await tenant.get(`${external}/rated-transactions`).expect(200);
  params['transactionId'] = body.data.content[0].Id;
}

async function addContract(
  tenant: TestTenant,
  params: Record<string, string>,
  references: Record<string, string>,
  make: (path: string, example: object, changes: object) => Promise<Record<string, string>>,
): Promise<void> {
  const line = {
    ...ofTenant(examples.contractService, tenant.id),
    serviceId: params['serviceId'],
    rateCards: [examples.rateCard],
  };
  const contract = (await make('/contracts', examples.contract, {
    name: `Acme 2026 ${tenant.id}`,
    masterAccountId: params['accountId'],
    services: [line],
  })) as unknown as { id: string; services: { id: string }[] };
  const contractServiceId = contract.services[0]?.id ?? '';
  const path = `${external}/contracts/${contract.id}/services/${contractServiceId}`;
  const { body } = await tenant.get(path).expect(200);
  Object.assign(params, {
    contractId: contract.id,
    contractServiceId,
    serviceInstanceId: body.serviceInstanceId,
    'line.attributeId': body.priceableAttributes[0].id,
  });
  Object.assign(references, {
    contractId: contract.id,
    parentId: contract.id,
    contractServiceId,
    contractSvcId: contractServiceId,
    q2cEntityServiceId: contractServiceId,
  });
}

/** The path of an operation with this world's ids; throws when one has no id in the map. */
export function pathIn(world: Places, path: string): string {
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    // What is called alike and is another record: the attribute of a line, the grant of a wallet, a
    // workflow that the tenant has defined.
    const owners: readonly (readonly [string, string])[] = [
      ['line', '{contractServiceId}'],
      ['wallet', '{walletId}'],
      ['own', '{executionId}/timeline'],
      ['own', '{workflowId}/diagram'],
      ['own', '{workflowId}/simulate'],
    ];
    const owner = owners.find(([, part]) => path.includes(part))?.[0] ?? '';
    const value = world.params[`${owner}.${name}`] ?? world.params[name];
    if (value === undefined) throw new Error(`test/support/http/world.ts has no id for {${name}}.`);
    return encodeURIComponent(value);
  });
}

/** Query parameters whose values all tenants share. */
const sharedQuery: Readonly<Record<string, string>> = {
  currencyId: 'USD',
  seconds: '1',
  response_type: 'code',
  redirect_uri: examples.registration.redirect_uris[0] ?? '',
  code_challenge: 'A'.repeat(43),
  code_challenge_method: 'S256',
};

/** The query that an operation cannot do without, with this world's ids; empty for most. */
export function queryIn(world: Places, { query }: Operation): string {
  const { required = [] } = (query ?? {}) as { required?: readonly string[] };
  const needed = required.filter((name) => !('default' in (query?.properties[name] ?? {})));
  const values = needed.map((name) => {
    const value = sharedQuery[name] ?? world.references[name];
    if (value === undefined) throw new Error(`The world of tests has no reference '${name}'.`);
    return `${name}=${encodeURIComponent(value)}`;
  });
  return values.length === 0 ? '' : `?${values.join('&')}`;
}

/** A body that this tenant may send: the example with its own ids and names. */
export function bodyIn(world: Places, example: object): object {
  // A start node calls every record `id`: which one it is, only the example says.
  const ids = new Map(
    Object.entries(exampleIds).map(([entity, id]) => [id, world.params[`${entity}Id`]]),
  );
  const withIds = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withIds);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [
        key === exampleIds.account ? (world.references['accountId'] ?? key) : key,
        typeof child === 'string'
          ? (ids.get(child) ?? world.references[key] ?? child)
          : withIds(child),
      ]),
    );
  };
  return withIds(ofTenant(example, world.tenant.id)) as object;
}
