import { journalColumns, walletEntryColumns } from '../../schemas/exports/balance-columns.js';
import { exportSource } from './export-source.js';

export const walletEntries = exportSource(walletEntryColumns, {
  from: `wallet_entry as t
    join wallet_balance as w on w.tenant_id = t.tenant_id and w.wallet_id = t.wallet_id`,
  joins: 'join wallet_grant as g on g.tenant_id = t.tenant_id and g.id = t.grant_id',
  tenant: 't.tenant_id',
  keys: [
    { sql: 't.at', type: 'instant' },
    { sql: 't.wallet_id', type: 'uuid' },
    { sql: 't.number', type: 'integer' },
  ],
  account: { sql: 'w.account_id = ?', isIndexed: true },
  columns: {
    at: 't.at',
    walletId: 't.wallet_id',
    number: 't.number',
    accountId: 'w.account_id',
    currency: 'w.currency',
    kind: 't.kind',
    amount: 't.amount',
    held: 't.held',
    balanceAfter: 't.balance_after',
    grantId: 't.grant_id',
    grantKind: 'g.kind',
    externalId: 'g.external_id',
    chargeId: 't.charge_id',
    holdId: 't.hold_id',
  },
});

/** A row for each posting. */
export const journal = exportSource(journalColumns, {
  from: `journal_entry as t cross join lateral unnest(t.accounts, t.amounts) with ordinality
    as p (account, amount, position)`,
  tenant: 't.tenant_id',
  keys: [
    { sql: 't.at', type: 'instant' },
    { sql: 't.id', type: 'uuid' },
    { sql: 'p.position', type: 'integer' },
  ],
  leading: 2,
  account: { sql: 't.account_id = ?', isIndexed: true },
  columns: {
    at: 't.at',
    entryId: 't.id',
    position: 'p.position',
    kind: 't.kind',
    accountId: 't.account_id',
    account: 'p.account',
    amount: 'p.amount',
    currency: 't.currency',
    recordType: 't.record_type',
    recordId: 't.record_id',
  },
});
