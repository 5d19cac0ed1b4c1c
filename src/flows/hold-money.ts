import type { Static } from 'typebox';
import { createHold, createHolds, type AskedHold } from '../commands/balances/create-holds.js';
import type { HoldDto } from '../commands/balances/hold.js';
import { Groups } from '../kernel/groups.js';
import type { Scope } from '../kernel/scope.js';
import type { Platform } from '../process/platform.js';
import type * as schema from '../schemas/balances/hold.js';

type HoldCreate = Static<typeof schema.HoldCreate>;

interface Asking {
  readonly scope: Scope;
  readonly input: HoldCreate;
}

type HoldGroups = Groups<Asking, HoldDto>;

/** How many holds a transaction makes, and how many of a tenant run at a time: one, unless it lasts. */
const holdsMax = 64;
const groupsMax = 4;
const patienceMs = 50;

/** The groups of each process: tests have several in one. */
const known = new WeakMap<Platform['database'], HoldGroups>();

/**
 * Holds money of an account, with what else the tenant holds at the moment (docs/decisions/0431): as
 * `createHold`. Under an Idempotency-Key it is alone, in the transaction that keeps the answer.
 */
export function holdMoney(
  scope: Scope,
  { database }: Platform,
  input: HoldCreate,
): Promise<HoldDto> {
  if (scope.db.read.isTransaction === true) return createHold(scope, input);
  let groups = known.get(database);
  if (!groups) {
    const carryOut = (asked: readonly [Asking, ...Asking[]]) => holdTogether(database, asked);
    groups = new Groups({ carryOut, groupsMax, itemsMax: holdsMax, patienceMs });
    known.set(database, groups);
  }
  return groups.join(scope.tenantId, input.accountId, { scope, input });
}

/** One transaction for all; where it fails, each has its own, so that none fails for another's fault. */
async function holdTogether(
  database: Platform['database'],
  asked: readonly [Asking, ...Asking[]],
): Promise<PromiseSettledResult<HoldDto>[]> {
  const alone = () => Promise.allSettled(asked.map((one) => createHold(one.scope, one.input)));
  const [{ scope }] = asked;
  if (asked.length === 1) return alone();
  const { tenantId, actor, requestId, callerRequestId } = scope;
  // Not the first one's handle: nobody's statement is canceled because another has left.
  const db = database.forTenant(tenantId, { actor, requestId, callerRequestId }, 'request');
  const all = asked.map(({ input, scope: trail }): AskedHold => ({ input, trail }));
  try {
    return await createHolds({ ...scope, db }, all);
  } catch {
    return alone();
  }
}
