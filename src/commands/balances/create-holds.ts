import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { contentId, newId } from '../../kernel/id.js';
import { decimalText, ZERO, type Decimal } from '../../kernel/numbers/money.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { canonicalJson } from '../../kernel/text/json.js';
import { Account } from '../../models/accounts/account.js';
import { WalletHold, type KnownHold, type NewHold } from '../../models/balances/wallet-hold.js';
import type * as schema from '../../schemas/balances/hold.js';
import { missingAccount } from '../accounts/hold-account.js';
import { presentHold, releaseDue, type HoldDto } from './hold.js';
import { WalletLedger } from './wallet-ledger.js';

type HoldCreate = Static<typeof schema.HoldCreate>;

/** A hold that is asked for, and by which request: the audit names it. */
export interface AskedHold {
  readonly input: HoldCreate;
  readonly trail: Pick<Scope, 'actor' | 'requestId' | 'callerRequestId'>;
}

type Settled = PromiseSettledResult<HoldDto>;

const refused = (reason: Problem): Settled => ({ status: 'rejected', reason });

/**
 * Holds money of an account (spec/beyond.md R268, R269). 400: no such account. 409: there is too little,
 * or the key has another hold.
 */
export async function createHold(scope: Scope, input: HoldCreate): Promise<HoldDto> {
  const [made] = await createHolds(scope, [{ input, trail: scope }]);
  if (made?.status === 'fulfilled') return made.value;
  throw made?.reason;
}

/**
 * Makes holds of a tenant in one transaction, in their order. The wallets are locked first, so holds at
 * the same time never promise the same money; one that is refused leaves the others alone.
 */
export function createHolds(scope: Scope, asked: readonly AskedHold[]): Promise<Settled[]> {
  return scope.db.transaction(async (trx) => {
    const inputs = asked.map(({ input }) => input);
    const ledger = await WalletLedger.ofAccounts(trx, scope, inputs);
    const making = new HoldMaking(trx, scope, ledger);
    const all = asked.map((one) => ({ ...one, id: newId() }));
    await making.readKnown(all);
    const results: Settled[] = [];
    for (const one of all) results.push(await making.make(one.id, one.input));
    await making.write();
    return making.nameMissingAccounts(inputs, results);
  });
}

/** The holds that one transaction makes. */
class HoldMaking {
  readonly #trx: Knex.Transaction;
  readonly #scope: Scope;
  /** Undefined where none of the accounts has money. */
  readonly #ledger: WalletLedger | undefined;
  readonly #known = new Map<string, KnownHold>();
  readonly #made: NewHold[] = [];

  constructor(trx: Knex.Transaction, scope: Scope, ledger: WalletLedger | undefined) {
    this.#trx = trx;
    this.#scope = scope;
    this.#ledger = ledger;
  }

  /** Reads what has these keys already, after the lock; tells the audit whose each hold will be. */
  async readKnown(asked: readonly (AskedHold & { readonly id: string })[]): Promise<void> {
    const keys = asked.map(({ input }) => input.key);
    const trails = asked.map(({ id, trail }) => [
      id,
      [trail.actor, trail.requestId, trail.callerRequestId ?? null],
    ]);
    const named = JSON.stringify(Object.fromEntries(trails));
    const known = await WalletHold.ofKeys(this.#trx, this.#scope.tenantId, keys, named);
    for (const hold of known) this.#known.set(hold.key, hold);
  }

  async make(id: string, input: HoldCreate): Promise<Settled> {
    const [ledger, { amount, accountId, currency, key }] = [this.#ledger, input];
    const asked = contentId(canonicalJson(JSON.parse(JSON.stringify(input))));
    const known = this.#known.get(key);
    if (known) {
      if (known.contentId !== asked) return refused(otherHold(key));
      return made(known, ledger?.available(input) ?? ZERO);
    }
    if (ledger && amount.greaterThan(ledger.available(input))) {
      await releaseDue(this.#trx, this.#scope, ledger, input);
    }
    const available = ledger?.available(input) ?? ZERO;
    if (!ledger || amount.greaterThan(available)) return refused(tooLittle(input, available));
    const parts = ledger.hold(input, amount, id);
    const expiresAt = new Date(ledger.now.getTime() + input.expiresInSeconds * 1_000);
    const hold: NewHold = {
      id,
      accountId,
      currency,
      key,
      amount: decimalText(amount),
      contentId: asked,
      parts: parts.map((part) => ({ ...part, amount: decimalText(part.amount) })),
      status: 'open',
      expiresAt,
      releaseAt: expiresAt,
      createdAt: ledger.now,
    };
    this.#made.push(hold);
    this.#known.set(key, hold);
    return made(hold, available.minus(amount));
  }

  async write(): Promise<void> {
    await this.#ledger?.write(WalletHold.inserting(this.#scope.tenantId, this.#made));
  }

  /** Those that were refused for an account that does not exist are told so instead. */
  async nameMissingAccounts(
    inputs: readonly HoldCreate[],
    results: readonly Settled[],
  ): Promise<Settled[]> {
    const asked = inputs.filter((_input, index) => results[index]?.status === 'rejected');
    if (asked.length === 0) return [...results];
    const existing = await Account.query(this.#trx)
      .forTenant(this.#scope.tenantId)
      .existing()
      .whereRaw('id = any(?::uuid[])', [asked.map(({ accountId }) => accountId)])
      .select('id');
    const ids = new Set(existing.map(({ id }) => id));
    return results.map((result, index) => {
      const { accountId = '' } = inputs[index] ?? {};
      const isMissing = result.status === 'rejected' && !ids.has(accountId);
      return isMissing ? refused(missingAccount(accountId)) : result;
    });
  }
}

const made = (hold: KnownHold, available: Decimal): Settled => ({
  status: 'fulfilled',
  value: { ...presentHold(hold), available },
});

const otherHold = (key: string) =>
  problem.conflict(`There is a hold with the key '${key}' already, and it is another one.`, {
    field: 'key',
    value: key,
  });

const tooLittle = ({ currency, amount }: HoldCreate, available: Decimal) =>
  problem.conflict(
    `Only ${decimalText(available)} ${currency} of the account is available: ${decimalText(amount)} is more.`,
    { problemCode: 'INSUFFICIENT_BALANCE', field: 'amount', available },
  );
