import type { YearProgress } from '../../api/console/demo-year.js';
import { instanceAddresses } from '../start/instance.js';
import { sendUsage } from '../usage/usage-sender.js';
import { callApi, external, openTenant, say, waitUntilRated, type Api } from './demo-api.js';
import { yearAccounts, yearContract, yearServices, yearUsage } from './demo-year-catalog.js';

export const yearEvents = 100_000;

interface Made {
  readonly id: string;
}

const monthStart = (now: Date, monthsAgo: number): number =>
  Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1);

const dayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10);

/** The first and last days of the twelve months before the running one. */
const monthsBefore = (now: Date): { readonly periodStart: string; readonly periodEnd: string }[] =>
  Array.from({ length: 12 }, (_each, index) => ({
    periodStart: dayOf(monthStart(now, 12 - index)),
    periodEnd: dayOf(monthStart(now, 11 - index) - 1),
  }));

async function createCustomers(api: Api, startDate: string): Promise<string[]> {
  const serviceIds: string[] = [];
  for (const service of yearServices) {
    const { id } = await callApi<Made>(api, 'POST', `${external}/services`, service);
    serviceIds.push(id);
  }
  await Promise.all(
    yearAccounts.map(async (account) => {
      const { id } = await callApi<Made>(api, 'POST', `${external}/accounts`, account);
      const contract = yearContract(account, id, serviceIds, startDate);
      await callApi(api, 'POST', `${external}/contracts`, contract);
    }),
  );
  return serviceIds;
}

/** What `fillYear` has made. */
interface Filled {
  readonly accepted: number;
  readonly rated: number;
  readonly rejected: number;
  readonly ratedSeconds: number;
  readonly months: number;
}

/** Customers, so many events over the last year, all of them rated, and its months billed. */
export async function fillYear(
  api: Api,
  events: number,
  now: Date,
  onProgress: (progress: YearProgress) => void = () => undefined,
): Promise<Filled> {
  const months = monthsBefore(now);
  const progress = { accepted: 0, processed: 0, events, billedMonths: 0, months: months.length };
  const tell = (more: Partial<YearProgress>): void =>
    onProgress({ ...Object.assign(progress, more) });
  const from = monthStart(now, 12);
  const serviceIds = await createCustomers(api, dayOf(from));
  const since = performance.now();
  const sent = await sendUsage(
    {
      apiUrl: api.url,
      token: api.token,
      afterLine: 0,
      onProgress: ({ accepted }) => tell({ accepted }),
      onFault: (line, fault) => {
        throw new Error(`Event ${line}: ${fault}`);
      },
      onWaiting: (reason) => say(`  ${reason}; trying again`),
    },
    yearUsage(serviceIds, events, { from, to: now.getTime() }),
  );
  const { accepted, rated, rejected } = await waitUntilRated(api, sent.accepted, (summary) =>
    tell({ processed: summary.rated + summary.rejected }),
  );
  const ratedSeconds = (performance.now() - since) / 1000;
  for (const [index, data] of months.entries()) {
    await callApi(api, 'POST', '/v1/workflows/billing-run/execute', { data });
    tell({ billedMonths: index + 1 });
  }
  return { accepted, rated, rejected, ratedSeconds, months: months.length };
}

/** Fills a tenant with a year on the instance that the configuration names, and says where to look. */
export async function runDemoYear(): Promise<void> {
  const since = performance.now();
  const { apiUrl } = await instanceAddresses();
  const api = await openTenant(apiUrl);
  say(`\nTenant ${api.tenantId}`);
  const filled = await fillYear(api, yearEvents, new Date());
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  say(`  customers  ${yearAccounts.length}, each with ${yearServices.length} services`);
  say(
    `  usage      ${filled.accepted} events of a year: ${filled.rated} rated, ${filled.rejected} rejected, in ${filled.ratedSeconds.toFixed(1)} s`,
  );
  say(`  billing    ${filled.months} months`);
  say(`  all of it  ${seconds} s\n`);
  say(`Look at it    ${apiUrl}/console, and sign in with this token, which lives for a day:\n`);
  say(`${api.token}\n`);
}
