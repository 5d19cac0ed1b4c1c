import pg from 'pg';
import { openDatabase } from '../../src/platform/database/database.js';
import { examples } from '../../src/schemas/openapi/examples.js';
import type { KillableProduct } from '../start/killable.js';
import { accountIdOf, fillPrices, fillTenant } from '../support/servers/fill.js';
import { storeInvoice } from '../support/billing/invoices.js';
import { ofTenant } from '../support/http/world.js';
import type { Loot } from './attacker.js';

const external = '/api/v1/external';
const accounts = 2_000;
const events = 20_000;
const services = 20;
const records = 20_000;
const invoiceItems = 3_000;
/** A document of so many items, rendered, has 0.4 MB. */
const documentBytes = 400_000;

/** The command line's `tenant plan`, without a second process: nothing is refused by its count. */
export async function liftLimits(product: KillableProduct, tenantId: string): Promise<void> {
  await product.query(
    `update tenant set plan = 'enterprise', request_limit = 1000000000 where id = '${tenantId}'`,
  );
}

/** Accounts, rated events, prices and an invoice, as years of honest use would leave them. */
async function fill(product: KillableProduct, tenantId: string): Promise<string> {
  const databaseUrl = await product.databaseUrl();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await fillTenant(client, { tenantId, accounts, events, services });
    await fillPrices(client, { tenantId, services });
    await client.query('analyze');
  } finally {
    await client.end();
  }
  const database = openDatabase(databaseUrl, 2);
  try {
    const trail = { actor: 'tester', requestId: 'test' };
    return await storeInvoice(
      {
        tenantId,
        orgId: 'o',
        roles: ['ADMIN'],
        now: () => new Date(),
        realNow: () => new Date(),
        ...trail,
        db: database.forTenant(tenantId, trail),
      },
      {
        invoice: {
          accountId: accountIdOf(0),
          invoiceNo: 'INV-HUGE',
          amount: '3750',
          balance: '3750',
        },
        items: Array.from({ length: invoiceItems }, (_each, index) => ({
          description: `Item ${index} ${'of a long name '.repeat(12)}`,
          amount: '1.25',
          balance: '1.25',
        })),
        pdf: { fileName: 'INV-HUGE.pdf', bytes: Buffer.alloc(documentBytes, '%PDF-1.7 ') },
      },
    );
  } finally {
    await database.close();
  }
}

type Body = Record<string, unknown>;

/** Throws unless the answer is 2xx. */
async function must(
  product: KillableProduct,
  token: string,
  path: string,
  body: unknown,
  method = 'POST',
) {
  const response = await product.send(token, path, { body, method });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
  return (text === '' ? {} : JSON.parse(text)) as Body;
}

const idOf = (body: Body): string => String(body['id']);
const firstId = (body: Body, name: string): string =>
  idOf(((body[name] as Body[] | undefined) ?? [])[0] ?? {});

/** A sandbox without a limit of requests; a token of its administrator. */
async function makeSandbox(product: KillableProduct, id: string): Promise<string> {
  const { code, output } = await product.command('tenant', 'create', id, '--sandbox');
  if (code !== 0) throw new Error(output);
  await liftLimits(product, id);
  return product.token(id, '7d');
}

/** Gives the attacker one of everything that a tenant can own, and much of what can be listed. */
export async function collectLoot(
  product: KillableProduct,
  token: string,
  tenantId: string,
): Promise<Loot> {
  const make = (path: string, example: object, changes: object = {}) =>
    must(product, token, path, { ...ofTenant(example, tenantId), ...changes });
  const hugeInvoiceId = await fill(product, tenantId);
  const account = await make(`${external}/accounts`, examples.account);
  const service = await make(`${external}/services`, examples.service);
  const line = { ...ofTenant(examples.contractService, tenantId), serviceId: idOf(service) };
  const contract = await make(`${external}/contracts`, examples.contract, {
    masterAccountId: idOf(account),
    services: [{ ...line, rateCards: [examples.rateCard] }],
  });
  const lineId = firstId(contract, 'services');
  const linePath = `${external}/contracts/${idOf(contract)}/services/${lineId}`;
  const stored = await must(product, token, linePath, undefined, 'GET');
  const payment = await make(`${external}/payments`, examples.payment, {
    accountId: idOf(account),
  });
  const wallet = await make(`${external}/wallets`, examples.wallet, { accountId: idOf(account) });
  const grant = await make(`/v1/wallets/${idOf(wallet)}/grants`, examples.walletGrant);
  const adjustment = await make('/v1/adjustments', examples.adjustment, {
    accountId: idOf(account),
  });
  const alert = await make('/v1/alerts', examples.alert, { accountId: idOf(account) });
  const hold = await make('/v1/holds', examples.hold, { accountId: idOf(account) });
  const taxRate = await make('/v1/tax-rates', examples.taxRate);
  const recordType = await make('/v1/mobjects', examples.recordType, { name: 'subscription' });
  const record = await make(`/v1/mobjects/${idOf(recordType)}/mdata`, examples.record);
  const hoard = await make('/v1/mobjects', { name: 'hoard' });
  for (let from = 0; from < records; from += 10_000) {
    const data = Array.from({ length: 10_000 }, (_each, index) => ({
      n: from + index,
      name: `record ${from + index}`,
      tags: ['a', 'b', String(index % 50)],
    }));
    await must(product, token, `/v1/mobjects/${idOf(hoard)}/mdata/bulk`, { data });
  }
  const webhook = await make('/v1/webhooks', examples.webhook, {
    url: 'https://hooks.invalid/hook',
    active: false,
  });
  const run = await must(product, token, `${external}/run/billing/account/edit`, {
    id: idOf(account),
    description: 'first',
  });
  // Those of the product have no diagram and no simulation.
  const defined = await make('/v1/workflows', examples.workflow);
  const flows = await must(product, token, '/v1/workflows', undefined, 'GET');
  const transactions = await must(
    product,
    token,
    `${external}/rated-transactions`,
    undefined,
    'GET',
  );
  const amended = await must(product, token, '/v1/usage-events/txn-7/cancel', {
    reason: 'For its correction.',
  });
  const repriced = await must(product, token, '/v1/workflows/reprice/execute', {
    data: {
      name: 'All of it twice',
      from: '1900-01-01',
      to: '9998-12-31',
      changes: [{ kind: 'usage', factor: 2 }],
    },
    async: true,
  });
  const billed = await must(product, token, '/v1/workflows/billing-run/execute', {
    data: { periodStart: '2026-03-01', periodEnd: '2026-03-31', dryRun: true },
  });
  const page = (transactions['data'] as { content: { Id: string }[] }).content;
  return {
    tenant: { id: tenantId },
    hoardId: idOf(hoard),
    hugeInvoiceId,
    sandboxToken: await makeSandbox(product, `${tenantId}-sandbox`),
    params: {
      // Tokens are not stored: an id of one is whosever it is.
      jti: '01939c6e-7a00-4000-8000-00000000beef',
      accountId: idOf(account),
      addressId: firstId(account, 'addresses'),
      externalId: String(account['externalId']),
      approvalId: idOf(account),
      currency: 'USD',
      kind: 'usage-events',
      job: 'audit',
      name: 'netTerm',
      serviceId: idOf(service),
      attributeId: firstId(service, 'priceableAttributes'),
      pricingLogicId: firstId(service, 'pricingLogic'),
      computationId: firstId(service, 'pricingLogic'),
      contractId: idOf(contract),
      contractServiceId: lineId,
      serviceInstanceId: String(stored['serviceInstanceId']),
      'line.attributeId': firstId(stored, 'priceableAttributes'),
      paymentId: idOf(payment),
      walletId: idOf(wallet),
      'wallet.grantId': idOf(grant),
      holdId: idOf(hold),
      billingRunId: String(billed['executionId']),
      alertId: idOf(alert),
      adjustmentId: idOf(adjustment),
      taxRateId: idOf(taxRate),
      invoiceId: hugeInvoiceId,
      executionId: String(run['flowExecutionId']),
      workflowId: 'account-edit',
      'own.workflowId': String(defined['name']),
      flowId: firstId(flows, 'data'),
      mobjectId: idOf(recordType),
      mdataId: idOf(record),
      webhookId: idOf(webhook),
      deliveryId: idOf(webhook),
      id: 'txn-8',
      correctionId: String(amended['correctionId']),
      repricingId: String(repriced['executionId']),
      transactionId: page[0]?.Id ?? '',
    },
    references: {
      id: idOf(account),
      accountId: idOf(account),
      masterAccountId: idOf(account),
      billingAccountId: idOf(account),
      accountExtId: String(account['externalId']),
      billingAccountRef: 'acct-7',
      serviceId: idOf(service),
      templateId: idOf(service),
      sourceServiceId: idOf(service),
      contractId: idOf(contract),
      parentId: idOf(contract),
      priceDimId: firstId(service, 'priceableAttributes'),
      contractSvcId: lineId,
      q2cEntityServiceId: lineId,
      invoiceId: hugeInvoiceId,
      account_id: idOf(account),
      master_account_id: idOf(account),
      ID_Account: idOf(account),
      ID_Contract: idOf(contract),
      ID_Service: idOf(service),
      Service_ID: idOf(service),
      client_id: '01939c6e-7a00-7000-8000-000000000099',
    },
  };
}
