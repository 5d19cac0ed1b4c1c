import type { Knex } from 'knex';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import type { BulkStatement } from '../../models/db/bulk-table.js';
import {
  addingCharges,
  addingDraws,
  meterUsageKey,
  readMeterCredits,
  type MeterDraw,
  type MeterUsage,
} from '../../models/balances/meter-charge.js';
import type { GrantPart } from './grant-part.js';
import type { WalletLedger } from './wallet-ledger.js';

/** The usage of one meter: what it is, and what the transaction adds. */
interface Moved {
  readonly usage: MeterUsage;
  charged: Decimal;
  readonly drawn: Map<string, GrantPart>;
  /** What `drawn` comes to. */
  paid: Decimal;
  /** The grants of `drawn`, those that are used last first; shorter than it where it is to be made again. */
  lastFirst: readonly string[];
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
      pay(known, { grantId, walletId, amount: new Decimal(drawn) });
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
      pay(of, { ...part, amount });
      add(of.addedDraws, { ...part, amount });
    }
  }

  /** What grants have paid beyond what the usage comes to. */
  surplusOf(usage: MeterUsage): Decimal {
    const { charged, paid } = this.#of(usage);
    return Decimal.max(ZERO, paid.minus(Decimal.max(ZERO, charged)));
  }

  /**
   * So much of what grants have paid, as far as they have: of this grant first, where one is named, then of
   * those that are used last.
   */
  partsOf(usage: MeterUsage, amount: Decimal, ledger: WalletLedger, first?: string): GrantPart[] {
    const of = this.#of(usage);
    const own = first === undefined ? undefined : of.drawn.get(first);
    if (of.lastFirst.length < of.drawn.size) {
      of.lastFirst = [...of.drawn.keys()].sort((a, b) => ledger.compareUse(b, a));
    }
    const taken: GrantPart[] = [];
    let open = amount;
    const take = (part: GrantPart | undefined): void => {
      if (!part?.amount.greaterThan(ZERO)) return;
      taken.push({ ...part, amount: Decimal.min(open, part.amount) });
      open = Decimal.max(ZERO, open.minus(part.amount));
    };
    if (open.greaterThan(ZERO)) take(own);
    for (const grantId of of.lastFirst) {
      if (!open.greaterThan(ZERO)) break;
      if (grantId !== first) take(of.drawn.get(grantId));
    }
    return taken;
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
        paid: ZERO,
        lastFirst: [],
        addedCharge: ZERO,
        since: null,
        addedDraws: new Map(),
      };
      this.#moved.set(key, of);
    }
    return of;
  }
}

/** Counts what a grant has paid, or below zero got back. */
function pay(of: Moved, part: GrantPart): void {
  add(of.drawn, part);
  of.paid = of.paid.plus(part.amount);
}

function add(parts: Map<string, GrantPart>, part: GrantPart): void {
  const known = parts.get(part.grantId);
  const amount = known ? known.amount.plus(part.amount) : part.amount;
  parts.set(part.grantId, { ...part, amount });
}
