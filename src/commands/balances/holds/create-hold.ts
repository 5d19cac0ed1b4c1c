import type { Static } from 'typebox';
import { contentId, newId } from '../../../kernel/id.js';
import { Decimal, decimalText, ZERO } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { isRepeatable, tookTooLong } from '../../../kernel/sql-state.js';
import { canonicalJson } from '../../../kernel/text/json.js';
import {
  holdAtOnce,
  type AskedHold,
  type MadeHold,
} from '../../../models/balances/hold-at-once.js';
import { WalletHold } from '../../../models/balances/wallet-hold.js';
import type * as schema from '../../../schemas/balances/hold.js';
import { holdAccount } from '../../accounts/lock-account.js';
import { presentHold } from '../../../queries/balances/hold.js';
import type { HoldDto } from './hold.js';
import { releaseDue } from './release-due-holds.js';
import { WalletLedger } from '../wallet-ledger.js';

type HoldCreate = Static<typeof schema.HoldCreate>;

/**
 * Holds money of an account (spec/beyond.md R268, R269): by one statement, or, where that makes nothing,
 * by a transaction that does first what is due (docs/decisions/0445). 400: no such account. 409: there is
 * too little, or the key has another hold.
 */
export async function createHold(scope: Scope, input: HoldCreate): Promise<HoldDto> {
  const amount = decimalText(input.amount);
  const asked = contentId(canonicalJson(JSON.parse(JSON.stringify(input))));
  const hold = { ...input, id: newId(), amount, contentId: asked };
  const made = await tryAtOnce(scope, hold);
  return made ? presentMade(hold, made) : holdWhenSettled(scope, input, hold);
}

/** Undefined: nothing was made, because something is due, or in the way, or it is to be refused. */
async function tryAtOnce(
  { db, tenantId, now }: Scope,
  hold: AskedHold,
): Promise<MadeHold | undefined> {
  // A statement that fails would end the transaction of an Idempotency-Key.
  if (db.read.isTransaction === true) return undefined;
  try {
    return await holdAtOnce(db.read, tenantId, hold, now());
  } catch (error) {
    if (isRepeatable(error) || tookTooLong(error)) return undefined;
    throw error;
  }
}

function holdWhenSettled(scope: Scope, input: HoldCreate, hold: AskedHold): Promise<HoldDto> {
  const { db, tenantId } = scope;
  return db.transaction(async (trx) => {
    const ledger = await WalletLedger.withMoney(trx, scope, [input]);
    if (ledger) {
      await releaseDue(trx, scope, ledger, input);
      await ledger.write();
      const made = await holdAtOnce(trx, tenantId, hold, ledger.now);
      if (made) return presentMade(hold, made);
    }
    const available = ledger?.available(input) ?? ZERO;
    const known = await WalletHold.query(trx).forTenant(tenantId).findOne({ key: hold.key });
    if (known?.contentId === hold.contentId) return { ...presentHold(known), available };
    if (known) throw otherHold(hold.key);
    await holdAccount(trx, scope, hold.accountId);
    throw tooLittle(hold, available);
  });
}

const presentMade = (hold: AskedHold, { expiresAt, available }: MadeHold): HoldDto => ({
  ...presentHold({ ...hold, status: 'open', expiresAt }),
  available: new Decimal(available),
});

const otherHold = (key: string) =>
  problem.conflict(`There is a hold with the key '${key}' already, and it is another one.`, {
    field: 'key',
    value: key,
  });

const tooLittle = ({ currency, amount }: AskedHold, available: Decimal) =>
  problem.conflict(
    `Only ${decimalText(available)} ${currency} of the account is available: ${amount} is more.`,
    { problemCode: 'INSUFFICIENT_BALANCE', field: 'amount', available },
  );
