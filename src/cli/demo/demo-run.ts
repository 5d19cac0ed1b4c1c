import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { ensureTenant } from '../../access/tenants.js';
import { demoAccount, demoContract, demoService, explainedEvent } from './demo-catalog.js';
import { renderCharge, type ExplainedUsage } from './demo-report.js';
import { instanceAddresses, withInstance } from '../start/instance.js';
import { sendUsageFile } from '../usage/usage-sender.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

interface Api {
  readonly url: string;
  readonly token: string;
}

async function call<T>(api: Api, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** An answer that may say what will go wrong with what was written. */
interface Warned {
  readonly warnings?: readonly string[];
}

const external = '/api/v1/external';

/** A tenant of its own for each run, so that the demo can be run again and again. */
async function openTenant(apiUrl: string): Promise<Api & { tenantId: string }> {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const tenantId = `demo-${stamp}-${process.pid}`;
  const token = await withInstance(async ({ database, tokens }) => {
    await ensureTenant(database.platform, tenantId, 'Demo');
    return tokens.issue({
      tenantId,
      orgId: 'demo',
      roles: ['ADMIN'],
      subject: 'demo',
      expiresInSeconds: 86_400,
    });
  });
  return { url: apiUrl, token, tenantId };
}

async function createCatalog(api: Api): Promise<string> {
  const account = await call<{ id: string }>(api, 'POST', `${external}/accounts`, demoAccount);
  say(`  account    ${demoAccount.name} (${demoAccount.externalId})`);
  const service = await call<{ id: string }>(api, 'POST', `${external}/services`, demoService);
  say(`  service    ${demoService.name}: metered by month, three tiers, pricing logic`);
  const contract = demoContract(account.id, service.id);
  const { warnings = [] } = await call<Warned>(api, 'POST', `${external}/contracts`, contract);
  say('  contract   Acme 2026, with a price of its own for the second tier');
  for (const warning of warnings) say(`  warning    ${warning}`);
  return service.id;
}

interface Summary {
  readonly accepted: number;
  readonly rated: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly pending: number;
}

const ratingDeadlineMs = 30_000;

/** Waits until every accepted event was rated, recognized as a repeat, or rejected. */
async function waitUntilRated(api: Api, accepted: number): Promise<Summary> {
  const deadline = Date.now() + ratingDeadlineMs;
  for (;;) {
    const summary = await call<Summary>(api, 'GET', '/v1/usage-events/summary');
    if (summary.accepted >= accepted && summary.pending === 0) return summary;
    if (Date.now() > deadline)
      throw new Error('The events were not rated in time; is a worker up?');
    await wait(50);
  }
}

interface RatedRow {
  readonly ExternalTranId: string;
  readonly TransactionDate: string;
  readonly Quantity: number;
  readonly Amount: number;
}

async function printRated(api: Api): Promise<void> {
  type Page = { data: { content: RatedRow[] } };
  const { data } = await call<Page>(api, 'GET', `${external}/rated-transactions?size=20`);
  say('\nRated transactions\n');
  say('  event       date        quantity      amount USD');
  for (const row of [...data.content].reverse()) {
    const cells = [
      row.ExternalTranId.padEnd(10),
      row.TransactionDate,
      String(row.Quantity).padStart(9),
      String(row.Amount).padStart(14),
    ];
    say(`  ${cells.join('  ')}`);
  }
}

async function printRejected(api: Api): Promise<void> {
  type Rejected = { externalTransactionId: string; code: string; reason: string };
  const list = await call<{ data: Rejected[] }>(api, 'GET', '/v1/usage-events?status=rejected');
  for (const event of list.data) {
    say(
      `\nRejected, to be sent again: ${event.externalTransactionId}: ${event.code}, ${event.reason}`,
    );
  }
}

/** Runs the demo on the instance that the configuration names and prints what came of it. */
export async function runDemo(): Promise<void> {
  const { apiUrl, temporalUiUrl } = await instanceAddresses();
  const api = await openTenant(apiUrl);
  say(`\nTenant ${api.tenantId}`);
  const serviceId = await createCatalog(api);
  const path = fileURLToPath(new URL('../../../examples/usage.csv', import.meta.url));
  const sent = await sendUsageFile({
    apiUrl,
    token: api.token,
    path,
    defaults: { serviceId },
    afterLine: 0,
    onProgress: () => undefined,
    onFault: (line, fault) => say(`  line ${line}: ${fault}`),
    onWaiting: (reason) => say(`  ${reason}; trying again`),
    onNotice: say,
  });
  say(`  usage      ${sent.accepted} events of examples/usage.csv accepted`);
  const { accepted, rated, duplicate, rejected, pending } = await waitUntilRated(
    api,
    sent.accepted,
  );
  say(
    `\naccepted ${accepted} = rated ${rated} + duplicate ${duplicate} + rejected ${rejected} + pending ${pending}`,
  );
  await printRated(api);
  await printRejected(api);
  const usage = await call<ExplainedUsage>(api, 'GET', `/v1/usage-events/${explainedEvent}`);
  say(renderCharge(usage));
  say('Look further');
  say(`  API docs      ${apiUrl}/docs`);
  if (temporalUiUrl !== null) {
    const workflow = `${temporalUiUrl}/namespaces/default/workflows/${encodeURIComponent(usage.workflowId)}`;
    say(`  Temporal UI   ${workflow}`);
  }
  say(`  This charge   curl -sS '${apiUrl}/v1/usage-events/${explainedEvent}' \\`);
  say(`                  -H 'Authorization: Bearer ${api.token}'\n`);
}
