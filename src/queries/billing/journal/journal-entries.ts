import type { Static } from 'typebox';
import { Decimal } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import type * as schema from '../../../schemas/billing/journal.js';
import type { Listed } from '../../../schemas/http/operation.js';
import type { PageRequest } from '../../../schemas/http/paging.js';
import { totalByPage } from '../../lists/listing.js';
import { readHalfOpenRange } from '../../lists/time-range.js';

type Entry = Static<typeof schema.JournalEntry>;

export interface JournalFilter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly accountId?: string | undefined;
  readonly account?: schema.JournalAccount | undefined;
  readonly kind?: Entry['kind'] | undefined;
}

interface EntryRow {
  readonly id: string;
  readonly at: Date;
  readonly kind: Entry['kind'];
  readonly accountId: string;
  readonly currency: string;
  readonly recordType: string | null;
  readonly recordId: string | null;
  readonly accounts: readonly schema.JournalAccount[];
  readonly amounts: readonly string[];
}

/** The accounts that usage moves: entries of all others are found by an index without usage. */
const usageAccounts: readonly schema.JournalAccount[] = ['unbilled', 'revenue', 'payouts'];

/** Entries behind a page that are counted: of a long journal, no more is read. */
const countedMax = 10_000;

/** One page of the journal, the oldest entry first (spec/beyond.md R301). */
export async function listJournal(
  { db, tenantId }: Scope,
  { accountId, account, kind, ...given }: JournalFilter,
  page: PageRequest,
): Promise<Listed<Entry>> {
  const { from, to } = readHalfOpenRange({ from: given.from, to: given.to });
  const isOther = account !== undefined && !usageAccounts.includes(account);
  const chosen = [
    ...(from === undefined ? [] : ['and at >= :from']),
    ...(to === undefined ? [] : ['and at < :to']),
    ...(accountId === undefined ? [] : ['and account_id = :accountId']),
    ...(account === undefined ? [] : ['and :account = any(accounts)']),
    ...(kind === undefined ? [] : ['and kind = :kind']),
    ...(isOther || (kind !== undefined && kind !== 'usage') ? [`and kind <> 'usage'`] : []),
  ];
  const entriesSql = `from journal_entry where tenant_id = :tenantId ${chosen.join(' ')}`;
  const { limit, offset } = page;
  const bindings = { tenantId, from, to, accountId, account, kind, limit, offset };
  const rows = await sqlRows<EntryRow>(
    db.read,
    `select id, at, kind, account_id as "accountId", currency, record_type as "recordType",
       record_id as "recordId", accounts, amounts
     ${entriesSql} order by at, id limit :limit offset :offset`,
    bindings,
  );
  const items = rows.map(presentEntry);
  const known = totalByPage(page, rows.length);
  if (known !== undefined) return { items, total: known };
  const most = limit + offset + countedMax;
  const [counted] = await sqlRows<{ count: number }>(
    db.read,
    `select count(*)::integer as count from (select ${entriesSql} limit :most) as counted`,
    { ...bindings, most },
  );
  return { items, total: counted?.count ?? 0 };
}

const presentEntry = ({ at, accounts, amounts, ...row }: EntryRow): Entry => ({
  id: row.id,
  at: at.toISOString(),
  kind: row.kind,
  accountId: row.accountId,
  currency: row.currency,
  recordType: row.recordType,
  recordId: row.recordId,
  postings: accounts.map((account, index) => ({
    account,
    amount: new Decimal(amounts[index] ?? 0),
  })),
});
