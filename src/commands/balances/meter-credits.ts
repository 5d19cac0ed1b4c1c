import type { Knex } from 'knex';
import { Decimal, sum, ZERO } from '../../kernel/numbers/money.js';
import type { BulkStatement } from '../../models/db/bulk-table.js';
import {
  addingCharges,
  addingDraws,
  meterUsageKey,
  readMeterCredits,
  type MeterDraw,
  type MeterUsage,
} from '../../models/balances/meter-charge.js';
import { takeFirst, type GrantPart } from './grant-part.js';
import type { WalletLedger } from './wallet-ledger.js';

/** The usage of one meter: what it is, and what the transaction adds. */
interface Moved {
  readonly usage: MeterUsage;
  charged: Decimal;
  readonly drawn: Map<string, GrantPart>;
  addedCharge: Decimal;
  since: Date | null;
  readonly addedDraws: Map<string, GrantPart>;
}

/**
 * What the usage of meters comes to, and what grants have paid of it, while a transaction moves both:
 * grants never pay more than it comes to (spec/beyond.md R386).
 */
export class MeterCredits {
  readonly #moved = new Map<string, Moved>();

  /** What stands of these, whose charges may give something back. The wallets of the accounts are locked. */
  async read(db: Knex, tenantId: string, usages: readonly MeterUsage[]): Promise<void> {
    const asked = new Map(usages.map((usage) => [meterUsageKey(usage), usage]));
    for (const row of await readMeterCredits(db, tenantId, [...asked.values()])) {
      const { grantId, walletId, drawn } = row;
      const known = this.#of(row);
      known.charged = new Decimal(row.charged);
      if (grantId === null || walletId === null || drawn === null) continue;
      known.drawn.set(grantId, { grantId, walletId, amount: new Decimal(drawn) });
    }
  }

  /** The grants that have paid something of what was read. */
  get grantIds(): string[] {
    return [...this.#moved.values()].flatMap(({ drawn }) => [...drawn.keys()]);
  }

  /** Counts a charge; `since` is when it becomes known. */
  charge(usage: MeterUsage, amount: Decimal, since: Date): void {
    const of = this.#of(usage);
    of.charged = of.charged.plus(amount);
    of.addedCharge = of.addedCharge.plus(amount);
    if (of.since === null || since < of.since) of.since = since;
  }

  /** Counts what grants pay of a charge, or get back of it, below zero. */
  draw(usage: MeterUsage, parts: readonly GrantPart[], sign: 1 | -1 = 1): void {
    const of = this.#of(usage);
    for (const part of parts) {
      const amount = sign === 1 ? part.amount : part.amount.negated();
      add(of.drawn, { ...part, amount });
      add(of.addedDraws, { ...part, amount });
    }
  }

  /** What grants have paid beyond what the usage comes to. */
  surplusOf(usage: MeterUsage): Decimal {
    const { charged, drawn } = this.#of(usage);
    const paid = sum([...drawn.values()].map(({ amount }) => amount));
    return Decimal.max(ZERO, paid.minus(Decimal.max(ZERO, charged)));
  }

  /**
   * So much of what grants have paid, as far as they have: of this grant first, where one is named, then of
   * those that are used last.
   */
  partsOf(usage: MeterUsage, amount: Decimal, ledger: WalletLedger, first?: string): GrantPart[] {
    const rank = ({ grantId }: GrantPart): number => (grantId === first ? 0 : 1);
    const paid = [...this.#of(usage).drawn.values()];
    paid.sort((a, b) => rank(a) - rank(b) || ledger.compareUse(b.grantId, a.grantId));
    return takeFirst(paid, amount).taken;
  }

  /** The statements that keep it. */
  writing(tenantId: string): (BulkStatement | null)[] {
    const moved = [...this.#moved.values()];
    const charges = moved.flatMap(({ usage, addedCharge, since }) =>
      since === null ? [] : [{ ...usage, charged: addedCharge, since }],
    );
    const draws = moved.flatMap(({ usage, addedDraws }): MeterDraw[] =>
      [...addedDraws.values()].map(({ grantId, walletId, amount }) => ({
        ...usage,
        grantId,
        walletId,
        drawn: amount,
      })),
    );
    return [addingCharges(tenantId, charges), addingDraws(tenantId, draws)];
  }

  #of(usage: MeterUsage): Moved {
    const key = meterUsageKey(usage);
    let of = this.#moved.get(key);
    if (!of) {
      const { meterId, accountId, currency } = usage;
      of = {
        usage: { meterId, accountId, currency },
        charged: ZERO,
        drawn: new Map(),
        addedCharge: ZERO,
        since: null,
        addedDraws: new Map(),
      };
      this.#moved.set(key, of);
    }
    return of;
  }
}

function add(parts: Map<string, GrantPart>, part: GrantPart): void {
  const known = parts.get(part.grantId);
  const amount = known ? known.amount.plus(part.amount) : part.amount;
  parts.set(part.grantId, { ...part, amount });
}
