import { decimalText, ZERO } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import type { AccountCurrency } from '../../models/balances/wallet-balance.js';
import { WalletGrant } from '../../models/balances/wallet-grant.js';
import { withCredits } from '../../queries/balances/charge-credits.js';
import type { UsageEventDto } from '../../queries/usage/usage-event.js';
import type { ExplainedCredit } from '../../rating/index.js';
import { WalletLedger, type GrantPart } from './wallet-ledger.js';

type Charge = UsageEventDto['ratedTransactions'][number];

const isOwed = ({ usageType, amount }: Charge): boolean =>
  usageType === 'Charge' && amount.greaterThan(ZERO);

/**
 * Adds to the explanations of simulated charges the grants that would pay them now, each from what the
 * charges before it leave (spec/beyond.md R306). Nothing is locked or written.
 */
export async function previewCredits(
  scope: Scope,
  events: readonly UsageEventDto[],
): Promise<UsageEventDto[]> {
  const owed = events.flatMap(({ ratedTransactions }) => ratedTransactions.filter(isOwed));
  if (owed.length === 0) return [...events];
  return scope.db.transaction(async (trx) => {
    const accounts = new Map<string, AccountCurrency>(
      owed.map(({ accountId, currency }) => [`${accountId}${currency}`, { accountId, currency }]),
    );
    const ledger = await WalletLedger.ofAccounts(trx, scope, [...accounts.values()], 'preview');
    if (!ledger) return [...events];
    const drawn = new Map<Charge, readonly GrantPart[]>(
      owed.map((charge) => [charge, ledger.draw({ ...charge, chargeId: '' })]),
    );
    const ids = new Set([...drawn.values()].flatMap((parts) => parts.map((part) => part.grantId)));
    const grants = await WalletGrant.query(trx)
      .forTenant(scope.tenantId)
      .whereRaw('id = any(?::uuid[])', [[...ids]])
      .select('id', 'externalId', 'kind');
    const known = new Map(grants.map((grant) => [grant.id, grant]));
    const creditOf = ({ grantId, walletId, amount }: GrantPart): ExplainedCredit => ({
      walletId,
      grantId,
      externalId: known.get(grantId)?.externalId ?? '',
      kind: known.get(grantId)?.kind ?? 'purchased',
      amount: decimalText(amount),
    });
    return events.map((event) => ({
      ...event,
      ratedTransactions: event.ratedTransactions.map((charge) => ({
        ...charge,
        explanation: withCredits(charge.explanation, drawn.get(charge)?.map(creditOf)),
      })),
    }));
  });
}
