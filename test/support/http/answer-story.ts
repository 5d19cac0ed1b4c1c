import { flowBatchOperations, flowList, flowOperations } from '../../../src/schemas/flows/index.js';
import { examples } from '../../../src/schemas/openapi/examples.js';
import type { Operation } from '../../../src/schemas/http/operation.js';
import { idempotencyOf } from '../../../src/schemas/http/idempotency-key.js';
import { setTenantClock } from '../../../src/models/sandbox/sandbox-clock.js';
import { startWorkers } from '../../../src/worker/main.js';
import { checkAnswer, declaredOperations } from './answers.js';
import { external, type TestInstance, type TestTenant } from '../servers/instance.js';
import { sendRaw } from './raw.js';
import { openReceiver, waitUntilDelivered } from '../servers/receiver.js';
import { makeRecords, starts } from '../billing/flow-starts.js';
import { waitUntilRated } from '../billing/usage.js';
import { addGrant, addOauthClient, bodyIn, pathIn, queryIn, type Places } from './world.js';

/** What operations answer in the story that their example bodies tell: Acme buys API calls. */
export type Answers = Record<string, unknown>;

/** Whether an operation answers with JSON: files, redirects and nothing need no example. */
export const answersJson = ({ success }: Operation): boolean =>
  !['empty', 'file', 'stream', 'events', 'redirect'].includes(success.kind);

/** What its operation declares: what of it the story needs, it knows. */
type Body = ReturnType<typeof JSON.parse>;

interface Call {
  /** Path parameters that are not those of the story. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
  /** Not the example: only done so that the story goes on. */
  readonly isAside?: boolean;
}

type Send = (headers?: Readonly<Record<string, string>>) => ReturnType<typeof sendRaw>;

/** Sends a request of an operation that keeps its answers, perhaps more than once. */
export type Repeat = (operation: Operation, send: Send) => ReturnType<typeof sendRaw>;

class Story {
  readonly answers: Answers = {};
  readonly params: Record<string, string> = { currency: 'USD', name: 'netTerm', job: 'billing' };
  readonly references: Record<string, string> = {};
  readonly #url: string;
  readonly #tenant: TestTenant;
  readonly #repeat: Repeat | undefined;

  constructor(url: string, tenant: TestTenant, repeat?: Repeat) {
    this.#url = url;
    this.#tenant = tenant;
    this.#repeat = repeat;
  }

  /** Calls an operation with its example body, and keeps the first answer. */
  async call(id: string, { params, query, body, isAside = false }: Call = {}): Promise<Body> {
    const operation = declaredOperations.find((one) => one.id === id);
    if (!operation) throw new Error(`There is no operation '${id}'`);
    const places: Places = {
      tenant: { id: this.#tenant.id },
      params: { ...this.params, ...params },
      references: this.references,
    };
    const { method, example, success } = operation;
    const asked = query === undefined ? queryIn(places, operation) : `?${query}`;
    const path = pathIn(places, operation.path) + onlyOne(operation, asked);
    const sent = body ?? (example === undefined ? undefined : withoutTenant(places, example));
    const send: Send = (headers = {}) =>
      sendRaw(this.#url, {
        method,
        path,
        ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
        headers: {
          Authorization: `Bearer ${this.#tenant.token}`,
          'Content-Type': 'application/json',
          ...headers,
        },
      });
    const isRepeated = this.#repeat && idempotencyOf(operation) === 'transaction';
    const answer = isRepeated ? await this.#repeat(operation, send) : await send();
    const { status, text, headers } = answer;
    if (status !== success.status) throw new Error(`${id} answered ${status}: ${text}`);
    checkAnswer(method, path, { status, text, type: String(headers['content-type'] ?? '') });
    const found: Body = text === '' ? null : JSON.parse(text);
    if (!isAside && answersJson(operation)) this.answers[id] ??= found;
    return found;
  }
}

/** A page of one item is enough. */
function onlyOne({ method, query }: Operation, asked: string): string {
  const size = ['size', 'limit'].find((name) => query?.properties[name] !== undefined);
  if (method !== 'GET' || size === undefined || asked.includes(`${size}=`)) return asked;
  return `${asked}${asked === '' ? '?' : '&'}${size}=1`;
}

/** The example with the ids of the story, and its names as they are. */
const withoutTenant = (places: Places, example: object): object => {
  const text = JSON.stringify(bodyIn(places, example));
  return JSON.parse(text.replaceAll(` ${places.tenant.id}`, '')) as object;
};

/** Before there are workers: an execution that runs, and is canceled. */
async function cancelOne(story: Story): Promise<void> {
  const account = await story.call('createAccount');
  Object.assign(story.params, {
    accountId: account.id,
    addressId: account.addresses[0].id,
    externalId: 'acme',
  });
  Object.assign(story.references, {
    accountId: account.id,
    masterAccountId: account.id,
    account_id: account.id,
    ID_Account: account.id,
    master_account_id: account.id,
  });
  const body = { data: { id: account.id, net_term: 'Net 30' }, async: true };
  const { executionId } = await story.call('executeWorkflow', {
    params: { workflowId: 'account-edit' },
    body,
    isAside: true,
  });
  await story.call('cancelExecution', { params: { workflowId: 'account-edit', executionId } });
}

async function keepCatalog(story: Story): Promise<void> {
  await story.call('deactivateAccount');
  await story.call('activateAccount');
  const service = await story.call('createService');
  Object.assign(story.params, {
    serviceId: service.id,
    attributeId: service.priceableAttributes[0].id,
    pricingLogicId: service.pricingLogic[0].id,
    computationId: service.pricingLogic[0].id,
  });
  Object.assign(story.references, { serviceId: service.id, ID_Service: service.id });
  Object.assign(story.references, { Service_ID: service.id, sourceServiceId: service.id });
  const bare = await story.call('createService', { body: { name: 'Bare' }, isAside: true });
  const params = { serviceId: bare.id };
  await story.call('createPriceableAttribute', { params });
  await story.call('createRateCard', { params });
  await story.call('deleteRateCard', { params });
  const priceMatrix = { ...examples.priceMatrix, serviceId: bare.id };
  await story.call('insertPriceMatrix', { body: priceMatrix });
}

async function sell(story: Story): Promise<void> {
  const contract = await story.call('createContract');
  const [line] = contract.services;
  Object.assign(story.params, {
    contractId: contract.id,
    contractServiceId: line.id,
    lineId: line.id,
    serviceInstanceId: 'acme-production',
  });
  Object.assign(story.references, {
    contractId: contract.id,
    parentId: contract.id,
    ID_Contract: contract.id,
    contractSvcId: line.id,
    q2cEntityServiceId: line.id,
  });
  const { priceableAttributes } = await story.call('getContractService');
  story.params['line.attributeId'] = priceableAttributes[0].id;
}

async function use(story: Story, tenant: TestTenant): Promise<void> {
  const { partition, offset } = await story.call('ingestUsage');
  const { message } = examples.usageEvent;
  const others = ['globex', 'initech'];
  for (const [index, billingAccountRef] of others.entries()) {
    const other = { externalTransactionId: `evt-000${index + 2}`, serviceInstanceId: '' };
    const event = { ...message, ...other, billingAccountRef, dimensions: { 'API calls': '200' } };
    const body = [{ message: { ...event, serviceId: story.params['serviceId'] } }];
    await story.call('ingestUsageBatch', { body });
  }
  await waitUntilRated(tenant, 3);
  story.params['id'] = 'evt-0001';
  await story.call('simulateUsage');
  await story.call('getUsageEvent');
  await story.call('listUsageEvents', { query: 'status=rejected' });
  await story.call('countRejectedEvents');
  const ranges = [{ partition, from: offset, to: offset + 1 }];
  await story.call('getUsageOutcomes', { body: { ranges } });
  for (const [index, externalId] of others.entries()) {
    await story.call('createAccount', { body: { name: externalId, externalId }, isAside: true });
    if (index === 0) await story.call('retryUsageEvent', { params: { id: 'evt-0002' } });
    else await story.call('retryUsageEvents');
  }
  const amended = {
    ...message,
    externalTransactionId: undefined,
    serviceInstanceId: '',
    billingAccountRef: 'initech',
    dimensions: { 'API calls': '300' },
    serviceId: story.params['serviceId'],
  };
  const corrected = await story.call('amendUsageEvent', {
    params: { id: 'evt-0003' },
    body: { message: amended, reason: 'Sent in the wrong unit.' },
  });
  await story.call('cancelUsageEvent', { params: { id: 'evt-0002' } });
  await story.call('dismissUsageEvents');
  story.params['correctionId'] = corrected.correctionId;
  await story.call('listCorrectedCharges', { query: 'explain=true' });
  const repriced = await story.call('executeWorkflow', {
    params: { workflowId: 'reprice' },
    body: {
      data: {
        name: 'Calls at two cents',
        from: '2026-03-01',
        to: '2026-04-01',
        changes: [
          {
            kind: 'rateCard',
            serviceId: story.params['serviceId'],
            currency: 'USD',
            rows: examples.rateCard.rows,
          },
        ],
        guard: { accountChangeMax: 25 },
      },
    },
    isAside: true,
  });
  story.params['repricingId'] = repriced.output.repricingId;
  await story.call('listRepricedCharges');
  await story.call('previewRepricing', {
    body: {
      accountId: 'acme',
      from: '2026-03-01',
      to: '2026-04-01',
      changes: [{ kind: 'usage', factor: 1.2 }],
    },
  });
  await story.call('promoteRepricing');
  const rows = await story.call('listRatedTransactions', { query: 'q=evt-0001' });
  story.params['transactionId'] = rows.data.content[0].Id;
}

async function bill(story: Story): Promise<void> {
  // Before anything is billed, so that there is something to be.
  await story.call('getNextInvoice');
  // Saved before there is an invoice, so that it is left to be applied.
  const payment = await story.call('createPayment');
  story.params['paymentId'] = payment.id;
  const accountId = story.params['accountId'];
  const data = { periodStart: '2026-03-01', periodEnd: '2026-03-31', accountId };
  const { output, executionId: billingRunId } = await story.call('executeWorkflow', {
    params: { workflowId: 'billing-run' },
    body: { data },
    isAside: true,
  });
  story.params['billingRunId'] = billingRunId;
  const [invoiceId] = output.invoiceIds;
  Object.assign(story.params, { invoiceId, workflowId: 'account-edit' });
  story.references['invoiceId'] = invoiceId;
  const { items } = await story.call('getInvoice');
  story.references['itemId'] = items[0].id;
  await story.call('explainInvoice');
  await story.call('applyPayment');
  await story.call('previewCreditNote');
  const note = await story.call('createCreditNote');
  story.params['noteId'] = note.id;
  await story.call('listCreditNotes');
  const execution = await story.call('executeWorkflow');
  const flows = await story.call('listWorkflows');
  Object.assign(story.params, { executionId: execution.executionId, flowId: flows.data[0].id });
  const wallet = await story.call('createWallet');
  const rate = await story.call('createTaxRate');
  Object.assign(story.params, { walletId: wallet.id, taxRateId: rate.id });
  const grant = await story.call('createWalletGrant');
  story.params['wallet.grantId'] = grant.id;
  const adjustment = await story.call('createAdjustment');
  story.params['adjustmentId'] = adjustment.id;
  const alert = await story.call('createAlert');
  story.params['alertId'] = alert.id;
  const hold = await story.call('createHold');
  await story.call('listHolds');
  await story.call('commitHold', { params: { holdId: hold.id } });
}

/** Prices and attributes of the line, each made once more by the other way of making it. */
async function priceSpecially(story: Story): Promise<void> {
  await story.call('insertExceptionMatrix');
  await story.call('deleteExceptionCard');
  await story.call('deleteContractServiceAttribute');
  const attribute = await story.call('createContractServiceAttribute');
  story.params['line.attributeId'] = attribute.id;
  await story.call('createExceptionCard');
}

async function keepRecords(story: Story, tenant: TestTenant): Promise<void> {
  const type = await story.call('createRecordType');
  story.params['mobjectId'] = type.id;
  const record = await story.call('createRecord');
  story.params['mdataId'] = record.id;
  const { url } = await openReceiver({ keepsProcess: false });
  const webhook = await story.call('createWebhook', { body: { ...examples.webhook, url } });
  story.params['webhookId'] = webhook.id;
  const delivery = await story.call('testWebhook');
  story.params['deliveryId'] = delivery.id;
  await waitUntilDelivered(tenant, webhook.id);
  await story.call('listWebhookDeliveries');
  story.params['jti'] = '01939c6e-7a00-4000-8000-00000000beef';
  await story.call('revokeToken');
}

/** Flows that delete, and additions of ours: no other may depend on what they leave of a record. */
const flowsApart = flowList.filter(
  ([workflow, { isAddition }]) => isAddition === true || workflow.startsWith('delete'),
);

/** Runs these flows, and a batch of every flow, each on records of its own that nothing needs. */
async function runApart(story: Story, tenant: TestTenant): Promise<void> {
  const make = async (path: string, body: object): Promise<string> =>
    (await tenant.post(`${external}${path}`, body).expect(201)).body.id;
  for (const [workflow] of flowsApart) {
    const ids = await makeRecords(make, ` of ${workflow}`);
    const params = Object.fromEntries(
      Object.entries(ids).map(([entity, id]) => [`${entity}Id`, id]),
    );
    await story.call(flowOperations[workflow].id, { params });
  }
  for (const [workflow] of flowList) {
    const data = [starts[workflow](await makeRecords(make, ` of a batch of ${workflow}`))];
    await story.call(flowBatchOperations[workflow].id, { body: { data } });
  }
}

/** Moves the time of the tenant, which is a sandbox meanwhile. */
async function moveClock(story: Story, { platform }: TestInstance, tenant: TestTenant) {
  const { platform: db } = platform.database;
  await setTenantClock(db, tenant.id, new Date());
  await story.call('moveClock');
  await setTenantClock(db, tenant.id, undefined);
}

/** Lets all operations answer, on an instance without workers and without anything in it. */
export async function tellStory(
  instance: TestInstance,
  tenant: TestTenant,
  repeat?: Repeat,
): Promise<Pick<Story, 'answers' | 'params'>> {
  const story = new Story(instance.url, tenant, repeat);
  await cancelOne(story);
  const workers = await startWorkers(instance.platform);
  try {
    await keepCatalog(story);
    await sell(story);
    await use(story, tenant);
    await bill(story);
    await priceSpecially(story);
    await keepRecords(story, tenant);
    await addOauthClient(tenant, story.references);
    story.params['grantId'] = await addGrant(tenant, story.references);
    // What writes, then what reads, as they are declared; what deletes comes last.
    const idsApart = [
      ...flowsApart.map<string>(([workflow]) => flowOperations[workflow].id),
      ...Object.values(flowBatchOperations).map<string>(({ id }) => id),
      'moveClock',
    ];
    const waiting = { name: 'Hooli', externalId: 'hooli' };
    const { id: approvalId } = await story.call('createAccount', { body: waiting, isAside: true });
    Object.assign(story.params, { approvalId });
    await story.call('createWorkflow');
    const own = { workflowId: 'large-payment' };
    await story.call('updateWorkflow', { params: own });
    const run = { params: own, body: { data: { amount: 25_000 } }, isAside: true };
    const { executionId } = await story.call('executeWorkflow', run);
    Object.assign(story.params, {
      'own.workflowId': own.workflowId,
      'own.executionId': executionId,
    });
    const left = declaredOperations.filter(
      (one) => answersJson(one) && !/delete|void/i.test(one.id) && !idsApart.includes(one.id),
    );
    for (const isRead of [false, true]) {
      for (const { id, method } of left) {
        if ((method === 'GET') !== isRead || id in story.answers) continue;
        await story.call(id);
      }
    }
    // Its clock would bill by it.
    await story.call('deleteSchedule');
    await runApart(story, tenant);
    const type = await story.call('createRecordType', { body: { name: 'note' }, isAside: true });
    await story.call('deleteRecordType', { params: { mobjectId: type.id } });
    // An invoice is void only when its notes are.
    const params = { invoiceId: story.params['noteId'] ?? '' };
    await story.call('voidInvoice', { params, isAside: true });
    for (const id of ['previewVoid', 'voidInvoice', 'deleteRecord']) await story.call(id);
    await moveClock(story, instance, tenant);
    return story;
  } finally {
    await workers.drain();
  }
}
