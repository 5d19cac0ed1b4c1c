import { fileURLToPath } from 'node:url';
import { callApi, external, openTenant, say, waitUntilRated, type Api } from './demo-api.js';
import { demoAccount, demoContract, demoService, explainedEvent } from './demo-catalog.js';
import { renderCharge, type ExplainedUsage } from './demo-report.js';
import { instanceAddresses } from '../start/instance.js';
import { sendUsageFile } from '../usage/usage-sender.js';

/** An answer that may say what will go wrong with what was written. */
interface Warned {
  readonly warnings?: readonly string[];
}

async function createCatalog(api: Api): Promise<string> {
  const account = await callApi<{ id: string }>(api, 'POST', `${external}/accounts`, demoAccount);
  say(`  account    ${demoAccount.name} (${demoAccount.externalId})`);
  const service = await callApi<{ id: string }>(api, 'POST', `${external}/services`, demoService);
  say(`  service    ${demoService.name}: metered by month, three tiers, pricing logic`);
  const contract = demoContract(account.id, service.id);
  const { warnings = [] } = await callApi<Warned>(api, 'POST', `${external}/contracts`, contract);
  say('  contract   Acme 2026, with a price of its own for the second tier');
  for (const warning of warnings) say(`  warning    ${warning}`);
  return service.id;
}

interface RatedRow {
  readonly ExternalTranId: string;
  readonly TransactionDate: string;
  readonly Quantity: number;
  readonly Amount: number;
}

async function printRated(api: Api): Promise<void> {
  type Page = { data: { content: RatedRow[] } };
  const { data } = await callApi<Page>(api, 'GET', `${external}/rated-transactions?size=20`);
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
  const list = await callApi<{ data: Rejected[] }>(api, 'GET', '/v1/usage-events?status=rejected');
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
  const usage = await callApi<ExplainedUsage>(api, 'GET', `/v1/usage-events/${explainedEvent}`);
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
