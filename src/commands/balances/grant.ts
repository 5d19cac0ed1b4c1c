import type { Knex } from 'knex';
import { contentId, newId } from '../../kernel/id.js';
import { decimalText, type Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { canonicalJson } from '../../kernel/text/json.js';
import { WalletBalance } from '../../models/balances/wallet-balance.js';
import { WalletGrant } from '../../models/balances/wallet-grant.js';
import { Service } from '../../models/catalog/service.js';
import { Wallet } from '../../models/payments/wallet.js';
import { missingGrant, presentGrant, type WalletGrantDto } from '../../queries/balances/grant.js';
import { missingWallet } from '../../queries/payments/wallet.js';
import type { GrantCreate } from '../../schemas/balances/grant.js';
import { readDateOrInstant } from '../../schemas/fields/date-or-instant.js';
import { WalletLedger } from './wallet-ledger.js';

/** Grants of a wallet with something left; a charge looks at all of them (docs/decisions/0390). */
const openGrantsMax = 500;

/** What a grant is made of; `contentId` names what was asked for, where it can be asked for again. */
export interface NewGrant {
  readonly externalId: string;
  readonly amount: Decimal;
  readonly kind: 'purchased' | 'promotional';
  readonly priority?: number;
  readonly effectiveFrom?: Date | null;
  readonly expiresAt?: Date | null;
  readonly serviceIds?: readonly string[] | null;
  readonly paymentId?: string;
  readonly contentId?: string;
}

/**
 * Puts money into a wallet (spec/beyond.md R260 to R263). 400: it is of another currency, expires
 * before now or before it takes effect, or names no service. 404: there is no such wallet. 409: the
 * externalId has another grant.
 */
export async function createGrant(
  scope: Scope,
  walletId: string,
  input: GrantCreate,
): Promise<WalletGrantDto> {
  const [effectiveFrom, expiresAt] = [instantOf(input.effectiveFrom), instantOf(input.expiresAt)];
  return scope.db.transaction(async (trx) => {
    const wallet = await withCurrency(trx, scope, await holdWallet(trx, scope, walletId));
    const known = await WalletGrant.query(trx)
      .forTenant(scope.tenantId)
      .findOne({ walletId, externalId: input.externalId });
    const body = { ...input, serviceIds: servicesAsIn(known, input.serviceIds ?? undefined) };
    const asked = nameOf({
      ...body,
      // What stands for what is left out is the same as leaving it out.
      priority: input.priority === 0 ? undefined : (input.priority ?? undefined),
      currency: input.currency === wallet.currency ? undefined : (input.currency ?? undefined),
      effectiveFrom: effectiveFrom ?? undefined,
      expiresAt: expiresAt ?? undefined,
    });
    // Versions before have kept the name of the body as it was sent.
    const asSent = input.serviceIds === null ? input : body;
    if (known) return presentGrant(requireSame(known, [asked, nameOf(asSent)]), wallet.currency);
    checkCurrency(wallet, input.currency ?? null);
    checkTimes(scope.now(), effectiveFrom, expiresAt);
    await requireServices(trx, scope, input.serviceIds ?? []);
    const grant = await enterGrant(trx, scope, wallet, {
      externalId: input.externalId,
      amount: input.amount,
      kind: input.kind,
      priority: input.priority ?? 0,
      effectiveFrom,
      expiresAt,
      serviceIds: input.serviceIds ?? null,
      contentId: asked,
    });
    return presentGrant(grant, wallet.currency);
  });
}

/** The wallet, which stays as it is until the transaction ends. 404: there is none. */
async function holdWallet(trx: Knex.Transaction, scope: Scope, id: string): Promise<Wallet> {
  const wallet = await Wallet.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findById(id)
    .forNoKeyUpdate();
  if (!wallet) throw missingWallet(id);
  return wallet;
}

/** A wallet that is about to have a grant, in the currency of its account where it names none. */
export async function withCurrency(
  trx: Knex.Transaction,
  { tenantId, now }: Pick<Scope, 'tenantId' | 'now'>,
  wallet: Wallet,
): Promise<Wallet> {
  wallet.currency ??= await Wallet.takeCurrency(trx, tenantId, wallet.id, now());
  return wallet;
}

const instantOf = (text: string | null | undefined): Date | null => {
  const read = text === null || text === undefined ? undefined : readDateOrInstant(text);
  return read ? new Date(read.from) : null;
};

/** Services in the order in which a grant names the same ones: no order of them means anything. */
function servicesAsIn(
  grant: WalletGrant | undefined,
  ids: readonly string[] | undefined,
): readonly string[] | undefined {
  const known = grant?.serviceIds ?? undefined;
  const textOf = (of: readonly string[] = []): string => [...new Set(of)].sort().join();
  return textOf(ids) === textOf(known) ? known : ids;
}

const nameOf = (body: object): string => contentId(canonicalJson(JSON.parse(JSON.stringify(body))));

function requireSame(grant: WalletGrant, asked: readonly string[]): WalletGrant {
  if (grant.contentId !== null && asked.includes(grant.contentId)) return grant;
  throw problem.conflict(
    `The wallet has a grant with the externalId '${grant.externalId}' already, and it is another one.`,
    { field: 'externalId', value: grant.externalId },
  );
}

function checkCurrency(wallet: Wallet, currency: string | null): void {
  if (currency === null || currency === wallet.currency) return;
  throw problem.validation(
    `'currency' ${currency} is not that of the wallet, which ${
      wallet.currency === null ? 'has none' : `is in ${wallet.currency}`
    }`,
    { field: 'currency', value: currency },
  );
}

function checkTimes(now: Date, effectiveFrom: Date | null, expiresAt: Date | null): void {
  if (expiresAt === null) return;
  const value = expiresAt.toISOString();
  if (expiresAt <= now) {
    throw problem.validation(`'expiresAt' ${value} is past: the grant would never pay anything`, {
      field: 'expiresAt',
      value,
    });
  }
  if (effectiveFrom === null || expiresAt > effectiveFrom) return;
  throw problem.validation(
    `'expiresAt' ${value} is not after 'effectiveFrom' ${effectiveFrom.toISOString()}`,
    {
      field: 'expiresAt',
      value,
    },
  );
}

async function requireServices(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const found = await Service.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereIn('id', [...ids])
    .select('id');
  const known = new Set(found.map(({ id }) => id));
  const index = ids.findIndex((id) => !known.has(id));
  if (index < 0) return;
  const field = `serviceIds[${index}]`;
  throw problem.validation(`'${field}' names no service: '${ids[index] ?? ''}'`, {
    field,
    value: ids[index],
  });
}

/** Enters a grant into the ledger of a wallet that the caller holds. */
export async function enterGrant(
  trx: Knex.Transaction,
  scope: Pick<Scope, 'tenantId' | 'now'>,
  wallet: Pick<Wallet, 'id' | 'accountId' | 'currency' | 'isActive'>,
  grant: NewGrant,
): Promise<WalletGrant> {
  const { tenantId } = scope;
  await WalletBalance.open(trx, tenantId, wallet);
  const ledger = await WalletLedger.ofWallets(trx, scope, [wallet.id]);
  if (ledger.openGrants(wallet.id) >= openGrantsMax) {
    throw problem.conflict(
      `The wallet has ${openGrantsMax} grants with something left, the most that it may have.`,
    );
  }
  const createdAt = ledger.now;
  const amount = decimalText(grant.amount);
  const row = await WalletGrant.query(trx)
    .forTenant(tenantId)
    .insert({
      id: newId(),
      walletId: wallet.id,
      externalId: grant.externalId,
      kind: grant.kind,
      amount,
      priority: grant.priority ?? 0,
      effectiveFrom: grant.effectiveFrom ?? createdAt,
      expiresAt: grant.expiresAt ?? null,
      serviceIds: grant.serviceIds ?? null,
      paymentId: grant.paymentId ?? null,
      contentId: grant.contentId ?? null,
      rest: amount,
      createdAt,
    })
    .returning('*');
  ledger.add(row);
  await ledger.write();
  return reread(trx, tenantId, row.id);
}

async function reread(trx: Knex.Transaction, tenantId: string, id: string): Promise<WalletGrant> {
  const grant = await WalletGrant.query(trx).forTenant(tenantId).findById(id);
  if (!grant) throw missingGrant(id);
  return grant;
}

/**
 * Takes back what is left of a grant, but for what is held (spec/beyond.md R267). One that has ended
 * stays as it is. 404: there is no such wallet or grant.
 */
export async function revokeGrant(
  scope: Scope,
  walletId: string,
  grantId: string,
): Promise<WalletGrantDto> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const { currency } = await holdWallet(trx, scope, walletId);
    const known = await WalletGrant.query(trx).forTenant(tenantId).findById(grantId);
    if (known?.walletId !== walletId) throw missingGrant(grantId);
    const ledger = await WalletLedger.ofWallets(trx, scope, [walletId], [grantId]);
    const grant = ledger.grant(grantId);
    if (!grant) throw missingGrant(grantId);
    if (grant.revokedAt === null && grant.expiredAt === null) ledger.revoke(grant);
    await ledger.write();
    return presentGrant(await reread(trx, tenantId, grantId), currency);
  });
}

/** Enters and expires what is due of wallets, so that what is read next is true now. */
export async function settleWallets(scope: Scope, walletIds: readonly string[]): Promise<void> {
  const { db, tenantId, now } = scope;
  const due = await WalletBalance.due(db.read, tenantId, walletIds, now());
  if (due.length > 0) await settleAtOnce(scope, due);
}

/**
 * Enters and expires what is due of a tenant, of at most so many wallets; returns how many there were.
 * What moves the clock of a tenant calls it until there are none.
 */
export async function settleDue(scope: Scope, limit: number): Promise<number> {
  const { db, tenantId, now } = scope;
  const due = await WalletBalance.dueWallets(db.read, tenantId, now(), limit);
  // Each in a transaction of its own: a long one would hold up the charges of all of them.
  for (const walletId of due) await settleAtOnce(scope, [walletId]);
  return due.length;
}

const settleAtOnce = ({ db, ...scope }: Scope, walletIds: readonly string[]): Promise<void> =>
  db.transaction(async (trx) => {
    await (await WalletLedger.ofWallets(trx, scope, walletIds)).write();
  });
