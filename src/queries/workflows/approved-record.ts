import { parseStoredJson } from '../../kernel/text/json.js';
import { utcDate } from '../../kernel/time/date.js';
import type { Scope } from '../../kernel/scope.js';
import type { Account } from '../../models/accounts/account.js';
import type { Service } from '../../models/catalog/service.js';
import type { Contract } from '../../models/contracts/contract.js';
import { camelCase } from '../../models/db/read-records.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import type { approvedRecords } from '../../models/workflows/approval.js';
import { getAccount, presentAccountSummary } from '../accounts/account.js';
import { loadLineCards, presentRateCards } from '../catalog/rate-card.js';
import { getService, presentServiceSummary } from '../catalog/service.js';
import { getContract, presentContractSummary } from '../contracts/contract.js';

type RecordKind = (typeof approvedRecords)[number];
type Fields = Readonly<Record<string, unknown>>;

/** What of a record is in its own row. */
const presentRow: Readonly<Record<RecordKind, (row: Fields) => Fields>> = {
  account: (row) => presentAccountSummary(row as unknown as Account),
  contract: (row) => presentContractSummary(row as unknown as Contract),
  service: (row) => presentServiceSummary(row as unknown as Service),
};

/** A contract with its lines, and the cards of those that have prices of their own. */
async function wholeContract({ db, tenantId, now }: Scope, id: string): Promise<Fields> {
  const contract = await getContract(db.read, tenantId, id);
  const own = contract.services.filter(({ exceptionPricing }) => exceptionPricing);
  const lineIds = own.map((line) => line.id);
  const cards = await loadLineCards(db.read, tenantId, lineIds, utcDate(now()));
  const services = [];
  for (const line of contract.services) {
    const rateCards = await presentRateCards(cards.get(line.id) ?? []);
    services.push(line.exceptionPricing ? { ...line, rateCards } : line);
  }
  return { ...contract, services };
}

/** A record with its parts: addresses, lines, attributes, cards, logic. */
const wholeRecord: Readonly<Record<RecordKind, (scope: Scope, id: string) => Promise<Fields>>> = {
  account: ({ db, tenantId }, id) => getAccount(db.read, tenantId, id),
  contract: wholeContract,
  service: ({ db, tenantId, now }, id) => getService(db.read, tenantId, id, utcDate(now())),
};

/**
 * The row of a record as it was approved last: before the first change of the request that took the approval
 * away. Undefined: it never was, or the audit is too young.
 */
async function approvedLast(
  { db, tenantId }: Scope,
  kind: RecordKind,
  id: string,
): Promise<Fields | undefined> {
  const [found] = await sqlRows<{ before: string }>(
    db.read,
    `with entry as (
       select id, request_id, before, after from audit
       where tenant_id = :tenantId and entity = :kind and entity_id = :id::uuid
     ), ended as (
       select id, request_id from entry where before ->> 'approval_status' = 'Approved'
         and after ->> 'approval_status' <> 'Approved' order by id desc limit 1
     )
     select entry.before::text as before from entry join ended
       on entry.request_id is not distinct from ended.request_id
     where entry.id <= ended.id and entry.before is not null order by entry.id limit 1`,
    { tenantId, kind, id },
  );
  if (!found) return undefined;
  const columns = Object.entries(parseStoredJson(found.before) as Fields);
  return Object.fromEntries(columns.map(([name, value]) => [camelCase(name), value]));
}

const withoutId = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'id'));

/**
 * What approving a record would put in force (spec/beyond.md R461): all of one that never was approved; of
 * one that was, its own fields beside those of then.
 */
export async function changeOfRecord(
  scope: Scope,
  kind: RecordKind,
  id: string,
): Promise<{ readonly before: Fields; readonly after: Fields }> {
  const whole = withoutId(await wholeRecord[kind](scope, id));
  const was = await approvedLast(scope, kind, id);
  const approved = { approvalStatus: 'Approved' };
  const { approvalStatus } = whole;
  if (!was) return { before: { approvalStatus }, after: { ...whole, ...approved } };
  const before = withoutId(presentRow[kind](was));
  const after = Object.keys(before).map((name) => [name, whole[name]] as const);
  return {
    before: { ...before, approvalStatus },
    after: { ...Object.fromEntries(after), ...approved },
  };
}
