import { Decimal, decimalText } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import { differencesMax, type UsageDifference } from '../../../messages/usage/usage-audit.js';
import { journalDifferencesSql } from '../../../models/billing/journal.js';
import { sqlRows } from '../../../models/db/sql-rows.js';

interface DifferenceRow {
  readonly count: number;
  readonly accountId: string;
  readonly currency: string;
  readonly account: string;
  readonly recorded: string;
  readonly computed: string;
}

/**
 * Compares the journal with invoices, payments, wallets and charges, by account and currency, as they
 * are now. Nothing is compared before what was there when the journal began is in it.
 */
export async function auditJournal({ db, tenantId }: Scope): Promise<{
  readonly count: number;
  readonly differences: readonly UsageDifference[];
}> {
  const rows = await sqlRows<DifferenceRow>(
    db.read,
    `select (count(*) over ())::integer as count, account_id as "accountId", currency, account,
       recorded::text, computed::text
     from (${journalDifferencesSql}) as differences
     where not exists (
       select from journal_state where tenant_id = :tenantId and opened_at is null
     )
     order by account_id, currency, account limit ${differencesMax}`,
    { tenantId },
  );
  return {
    count: rows[0]?.count ?? 0,
    differences: rows.map(({ accountId, account, currency, recorded, computed }) => ({
      kind: 'journal',
      field: `${account} in ${currency}`,
      recorded: decimalText(new Decimal(recorded)),
      computed: decimalText(new Decimal(computed)),
      ratedTransactionId: null,
      externalTransactionId: null,
      ownerId: accountId,
      counterId: null,
    })),
  };
}
