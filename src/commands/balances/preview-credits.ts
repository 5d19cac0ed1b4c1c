import { decimalText } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { WalletGrant } from '../../models/balances/wallet-grant.js';
import { withCredits } from '../../queries/balances/charge-credits.js';
import type { UsageEventDto } from '../../queries/usage/usage-event.js';
import { counterIdOf } from '../../models/usage/usage-counter.js';
import { counterKey, type ExplainedCredit } from '../../rating/index.js';
import { previewCharges, type UnpaidCharge } from './pay-charges.js';
import type { GrantPart } from './grant-part.js';

type Charge = UsageEventDto['ratedTransactions'][number];

interface Simulated extends UnpaidCharge {
  readonly charge: Charge;
}

function unpaid(charge: Charge): Simulated {
  const { accountId, currency, serviceId, usageType, amount, explanation } = charge;
  const counter = explanation?.rows.find((row) => row.counter !== null)?.counter ?? null;
  const counterId = counter ? counterIdOf(counterKey(counter)) : null;
  return { charge, id: '', accountId, currency, serviceId, usageType, amount, counterId };
}

/**
 * Adds to the explanations of simulated charges the grants that would pay them now, each from what the
 * charges before it leave (spec/beyond.md R306). Nothing is locked or written.
 */
export async function previewCredits(
  scope: Scope,
  events: readonly UsageEventDto[],
): Promise<UsageEventDto[]> {
  const charges = events.flatMap(({ ratedTransactions }) => ratedTransactions.map(unpaid));
  return scope.db.transaction(async (trx) => {
    const paid = await previewCharges(trx, scope, charges);
    const drawn = new Map([...paid].map(([{ charge }, parts]) => [charge, parts]));
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
