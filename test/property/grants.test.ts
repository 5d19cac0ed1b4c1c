import { expect } from 'chai';
import fc from 'fast-check';
import { createGrant, revokeGrant, settleWallets } from '../../src/commands/balances/grant.js';
import { createHold } from '../../src/commands/balances/holds/create-hold.js';
import { releaseHold } from '../../src/commands/balances/holds/hold.js';
import { releaseDueOf } from '../../src/commands/balances/holds/release-due-holds.js';
import { payCharges, returnCredits } from '../../src/commands/balances/pay-charges.js';
import { createWallet } from '../../src/commands/payments/wallet.js';
import { newId } from '../../src/kernel/id.js';
import { Decimal } from '../../src/kernel/numbers/money.js';
import { Problem } from '../../src/kernel/problem.js';
import { within, type Scope } from '../../src/kernel/scope.js';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import { readAccountBalance } from '../../src/queries/balances/account-balance.js';
import { listEntries, listGrants } from '../../src/queries/balances/grant.js';
import { createAccount, createService } from '../support/billing/usage.js';
import { useInstance } from '../support/servers/use-instance.js';

const start = Date.UTC(2026, 2, 1);
const amount = fc.integer({ min: 1, max: 2_000 });

/** What may happen to an account; amounts in hundredths, times in minutes. */
const happening = fc.oneof(
  fc.record({
    kind: fc.constant('grant' as const),
    amount,
    priority: fc.integer({ min: -1, max: 1 }),
    begins: fc.option(fc.integer({ min: 1, max: 8 }), { nil: null }),
    lasts: fc.option(fc.integer({ min: 1, max: 12 }), { nil: null }),
    isScoped: fc.boolean(),
    wallet: fc.nat(1),
  }),
  fc.record({ kind: fc.constant('charge' as const), amount, isScoped: fc.boolean() }),
  fc.record({
    kind: fc.constant('hold' as const),
    amount,
    lasts: fc.integer({ min: 1, max: 6 }),
    isInTransaction: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('release' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('revoke' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('return' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 4 }) }),
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

interface ModelGrant {
  readonly id: string;
  readonly order: readonly number[];
  readonly begins: number;
  readonly ends: number;
  readonly isScoped: boolean;
  rest: number;
  held: number;
  isOver: boolean;
}

/** What grants, holds, draws and expiry mean, without any database; in hundredths. */
class Model {
  readonly grants: ModelGrant[] = [];
  readonly holds: { parts: Map<ModelGrant, number>; ends: number }[] = [];
  readonly draws: Map<ModelGrant, number>[] = [];
  minute = 0;

  settle(): void {
    for (const hold of this.holds) if (hold.ends <= this.minute) this.free(hold.parts);
    for (const grant of this.grants) {
      if (grant.ends <= this.minute && grant.begins <= this.minute) grant.isOver = true;
      if (grant.isOver) grant.rest = grant.held;
    }
  }

  free(parts: Map<ModelGrant, number>): void {
    for (const [grant, held] of parts) grant.held -= held;
    parts.clear();
    for (const grant of this.grants) if (grant.isOver) grant.rest = grant.held;
  }

  /** Takes an amount of what is free, in the order of use. */
  take(wanted: number, mayUseScoped: boolean): Map<ModelGrant, number> {
    const parts = new Map<ModelGrant, number>();
    let open = wanted;
    const usable = this.grants
      .filter(
        ({ begins, isOver, isScoped }) =>
          begins <= this.minute && !isOver && (!isScoped || mayUseScoped),
      )
      .sort((a, b) => {
        const at = a.order.findIndex((value, index) => value !== b.order[index]);
        return at < 0 ? 0 : (a.order[at] ?? 0) - (b.order[at] ?? 0);
      });
    for (const grant of usable) {
      const part = Math.min(open, grant.rest - grant.held);
      if (part <= 0) continue;
      parts.set(grant, part);
      open -= part;
    }
    return parts;
  }

  get balance(): number {
    return this.grants
      .filter(({ begins }) => begins <= this.minute)
      .reduce((sum, { rest }) => sum + rest, 0);
  }

  get held(): number {
    return this.grants.reduce((sum, { held }) => sum + held, 0);
  }
}

/** Random histories, compared with a model that has no database, and with themselves. */
describe('grants and holds, whatever happens', function () {
  // A finding is looked for in its smallest form, which takes as long again.
  this.timeout(180_000);
  const instance = useInstance();

  /** An account with two wallets, whose clock stands where it is put. */
  const open = async () => {
    const tenant = await instance.tenant();
    const accountId = await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Calls');
    const clock = { minute: 0 };
    const scope: Scope = { ...tenant.scope, now: () => new Date(start + clock.minute * 60_000) };
    const walletIds: string[] = [];
    for (const title of ['one', 'two']) {
      walletIds.push((await createWallet(scope, { title, accountId, currency: 'USD' })).id);
    }
    return { scope, accountId, serviceId, walletIds, clock };
  };
  type Opened = Awaited<ReturnType<typeof open>>;

  const charge = async (
    { scope, accountId, serviceId }: Opened,
    cents: number,
    isScoped: boolean,
  ): Promise<{ id: string; paid: number }> => {
    const id = newId();
    const one = {
      id,
      accountId,
      currency: 'USD',
      serviceId: isScoped ? serviceId : newId(),
      usageType: 'Charge',
      amount: new Decimal(cents).div(100),
    };
    const paid = await scope.db.transaction((trx) => payCharges(trx, scope, [one]));
    return { id, paid: (paid.get(id) ?? new Decimal(0)).times(100).toNumber() };
  };

  /** The ledger adds up at every entry, and to what wallets, grants and postings say; in hundredths. */
  const readState = async ({ scope, accountId, walletIds }: Opened) => {
    await settleWallets(scope, walletIds);
    let sumOfEntries = new Decimal(0);
    const rests = new Map<string, number>();
    for (const walletId of walletIds) {
      const { items } = await listEntries(scope, walletId, { limit: 1_000, offset: 0 }, {});
      let balance = new Decimal(0);
      for (const [index, entry] of items.entries()) {
        balance = balance.plus(entry.amount);
        expect(entry.number).to.equal(index + 1);
        expect(entry.balanceAfter.toFixed()).to.equal(balance.toFixed());
        expect(balance.isNegative() && !balance.isZero()).to.equal(false);
      }
      sumOfEntries = sumOfEntries.plus(balance);
      const grants = await listGrants(scope, walletId, { limit: 1_000, offset: 0 });
      for (const { id, remaining } of grants.items) rests.set(id, remaining.times(100).toNumber());
    }
    const shown = await readAccountBalance(scope, accountId, 'USD');
    expect(shown.balance.toFixed()).to.equal(sumOfEntries.toFixed());
    const [posted] = await sqlRows<{ sum: string }>(
      scope.db.read,
      `select coalesce(sum(amount), 0)::text as sum from journal_entry
         cross join unnest(accounts, amounts) as posting (account, amount)
       where tenant_id = ? and account in ('wallet', 'promotional')`,
      [scope.tenantId],
    );
    // What is owed to an account stands below 0 in the journal.
    expect(sumOfEntries.plus(posted?.sum ?? NaN).toNumber(), 'the postings').to.equal(0);
    const { balance, held } = shown;
    return { balance: balance.times(100).toNumber(), held: held.times(100).toNumber(), rests };
  };

  const refused = async <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      if (error instanceof Problem && error.kind === 'conflict') return undefined;
      throw error;
    });

  const grantOf = (
    opened: Opened,
    {
      amount: cents,
      priority,
      begins,
      lasts,
      isScoped,
      wallet,
    }: Extract<Happening, { kind: 'grant' }>,
  ) => {
    const at = (minutes: number) => new Date(start + (opened.clock.minute + minutes) * 60_000);
    const [from, until] = [begins ?? 0, lasts === null ? null : (begins ?? 0) + lasts];
    return createGrant(opened.scope, opened.walletIds[wallet] ?? '', {
      externalId: newId(),
      amount: new Decimal(cents).div(100),
      kind: 'promotional',
      priority,
      effectiveFrom: begins === null ? null : at(from).toISOString(),
      expiresAt: until === null ? null : at(until).toISOString(),
      serviceIds: isScoped ? [opened.serviceId] : null,
    });
  };
  /** By itself, or in the transaction of an Idempotency-Key. */
  const holdOf = (
    { scope, accountId }: Opened,
    { amount: cents, isInTransaction }: Extract<Happening, { kind: 'hold' }>,
    minutes: number,
  ) => {
    const input = {
      accountId,
      currency: 'USD',
      amount: new Decimal(cents).div(100),
      expiresInSeconds: minutes * 60,
      key: newId(),
    };
    if (!isInTransaction) return createHold(scope, input);
    return scope.db.transaction((trx) => createHold(within(scope, trx), input));
  };

  // spec/beyond.md R264
  it('agree with a model at every step', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 25 }), async (story) => {
        const opened = await open();
        const { scope, accountId, walletIds, clock } = opened;
        const model = new Model();
        const [grants, holds, charges]: [string[], string[], string[]] = [[], [], []];
        const walletOf = new Map<string, string>();
        for (const each of story) {
          model.settle();
          if (each.kind === 'wait') clock.minute = model.minute += each.minutes;
          else if (each.kind === 'grant') {
            const made = await grantOf(opened, each);
            const begins = clock.minute + (each.begins ?? 0);
            const ends = each.lasts === null ? Number.MAX_SAFE_INTEGER : begins + each.lasts;
            walletOf.set(made.id, walletIds[each.wallet] ?? '');
            grants.push(made.id);
            model.grants.push({
              id: made.id,
              // Made in the same minute, they are used by their ids, which rise.
              order: [each.priority, ends, clock.minute, grants.length],
              begins,
              ends,
              isScoped: each.isScoped,
              rest: each.amount,
              held: 0,
              isOver: false,
            });
          } else if (each.kind === 'charge') {
            const { id, paid } = await charge(opened, each.amount, each.isScoped);
            const parts = model.take(each.amount, each.isScoped);
            for (const [grant, part] of parts) grant.rest -= part;
            expect(paid).to.equal([...parts.values()].reduce((sum, part) => sum + part, 0));
            charges.push(id);
            model.draws.push(parts);
          } else if (each.kind === 'hold') {
            const hold = await refused(holdOf(opened, each, each.lasts));
            const parts = model.take(each.amount, false);
            const free = [...parts.values()].reduce((sum, part) => sum + part, 0);
            expect(hold !== undefined).to.equal(free === each.amount);
            if (!hold) continue;
            for (const [grant, part] of parts) grant.held += part;
            holds.push(hold.id);
            model.holds.push({ parts, ends: clock.minute + each.lasts });
          } else if (each.kind === 'release' && holds.length > 0) {
            const index = each.which % holds.length;
            await releaseHold(scope, holds[index] ?? '');
            const hold = model.holds[index];
            if (hold) model.free(hold.parts);
          } else if (each.kind === 'revoke' && grants.length > 0) {
            const id = grants[each.which % grants.length] ?? '';
            await revokeGrant(scope, walletOf.get(id) ?? '', id);
            const grant = model.grants.find((one) => one.id === id);
            if (grant && !grant.isOver) {
              grant.isOver = true;
              grant.rest = grant.held;
            }
          } else if (each.kind === 'return' && charges.length > 0) {
            const index = each.which % charges.length;
            const chargeId = charges[index] ?? '';
            const returned = [{ chargeId, under: chargeId }];
            await scope.db.transaction((trx) => returnCredits(trx, scope, returned));
            for (const [grant, part] of model.draws[index] ?? [])
              if (!grant.isOver) grant.rest += part;
            model.draws[index]?.clear();
          }
          model.settle();
          await releaseDueOf(scope, { accountId, currency: 'USD' });
          const state = await readState(opened);
          expect(state.balance, JSON.stringify(each)).to.equal(model.balance);
          expect(state.held, JSON.stringify(each)).to.equal(model.held);
          for (const grant of model.grants) expect(state.rests.get(grant.id)).to.equal(grant.rest);
        }
      }),
      { numRuns: 12, seed: 390 },
    );
  });

  // All want the same two wallets, one after the other: the last must get its connection within the
  // pool's ten seconds, also on a machine that has other work.
  it('add up when everything happens at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 10, maxLength: 16 }), async (story) => {
        const opened = await open();
        const { scope, walletIds } = opened;
        const opening = { priority: 0, begins: null, lasts: null, isScoped: false } as const;
        for (const wallet of [0, 1]) {
          await grantOf(opened, { ...opening, kind: 'grant', amount: 5_000, wallet });
        }
        const [paid, held]: [number[], number[]] = [[], []];
        await Promise.all(
          story.map(async (each) => {
            if (each.kind === 'charge') {
              paid.push((await charge(opened, each.amount, each.isScoped)).paid);
            } else if (each.kind === 'hold') {
              const hold = await refused(holdOf(opened, each, 600));
              if (hold) held.push(each.amount);
            } else if (each.kind === 'grant') {
              await grantOf(opened, { ...each, begins: null, lasts: null, isScoped: false });
            } else await settleWallets(scope, walletIds);
          }),
        );
        const granted = story.flatMap((each) => (each.kind === 'grant' ? [each.amount] : []));
        const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
        const state = await readState(opened);
        expect(state.held).to.equal(sum(held));
        expect(state.balance).to.equal(10_000 + sum(granted) - sum(paid));
      }),
      // What everything at once did cannot be made smaller: it would be tried again until the time is over.
      { numRuns: 15, seed: 391, endOnFailure: true },
    );
  });
});
