import type { Static } from 'typebox';
import { seededId } from '../../kernel/id.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { WalletEntry } from '../../models/balances/wallet-entry.js';
import { WalletGrant } from '../../models/balances/wallet-grant.js';
import { Wallet } from '../../models/payments/wallet.js';
import { RatedTransaction } from '../../models/usage/rated-transaction.js';
import type * as schema from '../../schemas/balances/grant.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { totalByPage } from '../lists/listing.js';
import { missingWallet } from '../payments/wallet.js';

export type WalletGrantDto = Static<typeof schema.WalletGrant>;
type WalletEntryDto = Static<typeof schema.WalletEntry>;

export const missingGrant = (id: string) => problem.notFound(`There is no grant '${id}'.`);

/** A grant as it is shown; `currency` is that of its wallet. */
export function presentGrant(grant: WalletGrant, currency: string | null): WalletGrantDto {
  const { id, walletId, externalId, kind, priority, expiresAt, revokedAt, serviceIds } = grant;
  return {
    id,
    walletId,
    externalId,
    kind,
    amount: new Decimal(grant.amount),
    remaining: new Decimal(grant.rest),
    held: new Decimal(grant.held),
    currency,
    priority,
    status: statusOf(grant),
    effectiveFrom: grant.effectiveFrom.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    serviceIds: serviceIds === null ? null : [...serviceIds],
    createdAt: grant.createdAt.toISOString(),
  };
}

function statusOf({ revokedAt, expiredAt, enteredAt, rest }: WalletGrant) {
  if (revokedAt !== null) return 'revoked';
  if (expiredAt !== null) return 'expired';
  if (enteredAt === null) return 'pending';
  return new Decimal(rest).isZero() ? 'used' : 'active';
}

/** The wallet of a path. 404: there is none. */
export async function requireWallet({ db, tenantId }: Scope, id: string): Promise<Wallet> {
  const wallet = await Wallet.query(db.read).forTenant(tenantId).existing().findById(id);
  if (!wallet) throw missingWallet(id);
  return wallet;
}

/** One page of the grants of a wallet, the oldest first. 404: there is no such wallet. */
export async function listGrants(
  scope: Scope,
  walletId: string,
  page: PageRequest,
): Promise<Listed<WalletGrantDto>> {
  const { currency } = await requireWallet(scope, walletId);
  const query = WalletGrant.query(scope.db.read).forTenant(scope.tenantId).where({ walletId });
  const rows = await query
    .clone()
    .orderBy(['createdAt', 'id'])
    .limit(page.limit)
    .offset(page.offset);
  const total = totalByPage(page, rows.length) ?? (await query.resultSize());
  return { items: rows.map((row) => presentGrant(row, currency)), total };
}

interface EntryFilter {
  readonly kind?: string | undefined;
  readonly grantId?: string | undefined;
}

/** One page of the ledger of a wallet, the oldest entry first. 404: there is no such wallet. */
export async function listEntries(
  scope: Scope,
  walletId: string,
  page: PageRequest,
  { kind, grantId }: EntryFilter,
): Promise<Listed<WalletEntryDto>> {
  await requireWallet(scope, walletId);
  const { db, tenantId } = scope;
  const query = WalletEntry.query(db.read).forTenant(tenantId).where({ walletId });
  if (kind !== undefined) void query.where({ kind });
  if (grantId !== undefined) void query.where({ grantId });
  const isWhole = kind === undefined && grantId === undefined;
  const chosen = query.clone().orderBy('number').limit(page.limit);
  // Numbers have no gaps: what is before an offset need not be read.
  if (isWhole) void chosen.where('number', '>', page.offset);
  else void chosen.offset(page.offset);
  const rows = await chosen;
  const total = totalByPage(page, rows.length) ?? (await query.resultSize());
  const externalIds = await findExternalIds(scope, rows);
  const events = await findEvents(scope, rows);
  return { items: rows.map((row) => presentEntry(row, { externalIds, events })), total };
}

async function findExternalIds(
  { db, tenantId }: Scope,
  entries: readonly WalletEntry[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(entries.map(({ grantId }) => grantId))];
  const grants = await WalletGrant.query(db.read)
    .forTenant(tenantId)
    .whereRaw('id = any(?::uuid[])', [ids])
    .select('id', 'externalId');
  return new Map(grants.map(({ id, externalId }) => [id, externalId]));
}

/** The usage events of charges, by the id of the charge; recurring charges have none. */
async function findEvents(
  { db, tenantId }: Scope,
  entries: readonly WalletEntry[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(entries.flatMap(({ chargeId }) => chargeId ?? []))];
  if (ids.length === 0) return new Map();
  const charges = await RatedTransaction.query(db.read)
    .forTenant(tenantId)
    .whereRaw('id = any(?::uuid[])', [ids])
    .select('id', 'usageEventId');
  return new Map(charges.map(({ id, usageEventId }) => [id, usageEventId]));
}

interface EntryNames {
  readonly externalIds: ReadonlyMap<string, string>;
  readonly events: ReadonlyMap<string, string>;
}

function presentEntry(entry: WalletEntry, { externalIds, events }: EntryNames): WalletEntryDto {
  const { walletId, number, kind, grantId, chargeId, holdId, held } = entry;
  return {
    id: seededId(walletId, number),
    number: Number(number),
    walletId,
    kind,
    amount: new Decimal(entry.amount),
    held: held === null ? null : new Decimal(held),
    balanceAfter: new Decimal(entry.balanceAfter),
    grantId,
    externalId: externalIds.get(grantId) ?? '',
    chargeId,
    usageEventId: events.get(chargeId ?? '') ?? null,
    holdId,
    createdAt: entry.at.toISOString(),
  };
}
