import { raw } from 'objection';
import type { Knex } from 'knex';
import { dayBefore, utcDate } from '../../kernel/time/date.js';
import { newId } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import { ownersOf, RateCard } from '../../models/catalog/rate-card.js';
import { RateCardRow } from '../../models/catalog/rate-card-row.js';
import type { Service } from '../../models/catalog/service.js';
import {
  currencyOfPath,
  getRateCard,
  missingRateCard,
  type RateCardDto,
} from '../../queries/catalog/rate-card.js';
import { warnOfCards } from '../../queries/catalog/card-warnings.js';
import type { RateCardWrite } from '../../schemas/catalog/rate-card.js';
import { lockService } from './lock-service.js';
import { resolveRateCards, type RateCardOptions, type ResolvedCard } from './rate-card-rows.js';
import { requireServiceFits } from '../rules/size-limits.js';

/*
 * The rate cards of a service or of a contract line. The caller of a function that takes an owner
 * holds the owner's row until the transaction ends, so that numbers of versions have no gaps.
 */

export interface PutOptions extends RateCardOptions {
  /**
   * Whether an existing card gets a new version (an approved service, an exception card). Otherwise
   * its rows are replaced within the version.
   */
  readonly makesVersion: boolean;
}

type Versions = ReadonlyMap<string, RateCard>;

/** The version of each of these currencies that is in force today. */
async function currentVersions(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  currencies?: readonly string[],
): Promise<Versions> {
  const today = utcDate(scope.now());
  const query = RateCard.inForceOn(trx, scope.tenantId, today, ownersOf(owner));
  const cards = await (currencies ? query.whereIn('currency', [...currencies]) : query);
  return new Map(cards.map((card) => [card.currency, card]));
}

async function insertRows(
  trx: Knex.Transaction,
  scope: Scope,
  cards: readonly { readonly id: string; readonly card: ResolvedCard }[],
): Promise<void> {
  const rows = cards.flatMap(({ id, card }) =>
    card.rows.map((row) => ({ ...row, rateCardId: id })),
  );
  await RateCardRow.insertAll(trx, scope.tenantId, rows);
}

/** A version that is to be inserted. */
interface NewVersion {
  readonly card: ResolvedCard;
  readonly fromDate: string;
  readonly isCurrent: boolean;
}

/**
 * Inserts versions under the next numbers of their cards; a card without versions starts at 1. A
 * number is not given again while the card exists, though its version was removed. Answers with their
 * ids.
 */
export async function insertVersions(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  versions: readonly NewVersion[],
): Promise<readonly string[]> {
  if (versions.length === 0) return [];
  const currencies = versions.map(({ card }) => card.currency);
  const current = versions.filter(({ isCurrent }) => isCurrent).map(({ card }) => card.currency);
  await supersede(trx, scope, owner, current);
  const numbers = await RateCard.lastNumbers(trx, scope.tenantId, owner, currencies);
  const cards = versions.map((version) => ({ ...version, id: newId() }));
  await RateCard.insertAll(
    trx,
    scope.tenantId,
    cards.map(({ id, card: { currency }, fromDate, isCurrent }) => ({
      id,
      versionNo: (numbers.get(currency) ?? 0) + 1,
      fromDate,
      currency,
      isCurrent,
      ...owner,
    })),
  );
  await insertRows(trx, scope, cards);
  return cards.map(({ id }) => id);
}

/** Inserts versions that begin today. */
async function insertVersionsOfToday(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  cards: readonly ResolvedCard[],
  current: Versions,
): Promise<void> {
  const today = utcDate(scope.now());
  const versions = cards.map((card) => {
    const before = current.get(card.currency);
    // After a clock was set back, a version must not start before the one it replaces.
    const fromDate = before && before.fromDate > today ? before.fromDate : today;
    return { card, fromDate, isCurrent: true };
  });
  await insertVersions(trx, scope, owner, versions);
}

/** Marks the versions of these currencies as over, for processes of the version before (0370). */
async function supersede(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  currencies: readonly string[],
): Promise<void> {
  if (currencies.length === 0) return;
  const now = scope.now();
  await RateCard.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .where({ ...owner, isCurrent: true })
    .whereIn('currency', [...currencies])
    .patch({
      isCurrent: false,
      toDate: raw('greatest(from_date, ?::date)', [dayBefore(utcDate(now))]),
      updatedAt: now,
    });
}

/** Puts new rows in the place of those of cards that keep their version. */
async function replaceRows(
  trx: Knex.Transaction,
  scope: Scope,
  cards: readonly { readonly id: string; readonly card: ResolvedCard }[],
): Promise<void> {
  if (cards.length === 0) return;
  const ids = cards.map(({ id }) => id);
  const now = scope.now();
  await RateCardRow.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .whereIn('rateCardId', ids)
    .patch({ deletedAt: now });
  await RateCard.query(trx).forTenant(scope.tenantId).whereIn('id', ids).patch({ updatedAt: now });
  await insertRows(trx, scope, cards);
}

/** 400: a card has another first day than its version in force, which a PUT does not change. */
function checkFromDates(
  cards: readonly RateCardWrite[],
  current: Versions,
  field: string | undefined,
): void {
  cards.forEach(({ currency, fromDate }, index) => {
    const stored = current.get(currency)?.fromDate;
    if (fromDate === undefined || fromDate === null || stored === undefined) return;
    if (fromDate === stored) return;
    const name = field === undefined ? 'fromDate' : `${field}[${index}].fromDate`;
    throw problem.validation(
      `'${name}' '${fromDate}' is not ${stored}, the first day of the version in force: a PUT does not ` +
        `change when prices begin. POST .../rate-cards/${currency}/versions makes a version that ` +
        'begins on a day of its own.',
      { field: name, value: fromDate },
    );
  });
}

async function putResolved(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  cards: readonly ResolvedCard[],
  current: Versions,
  makesVersion: boolean,
): Promise<void> {
  if (makesVersion) {
    await insertVersionsOfToday(trx, scope, owner, cards, current);
    await requireServiceFits(trx, scope, owner);
    return;
  }
  const kept = cards.flatMap((card) => {
    const existing = current.get(card.currency);
    return existing ? [{ id: existing.id, card }] : [];
  });
  await replaceRows(trx, scope, kept);
  const fresh = cards.filter(({ currency }) => !current.has(currency));
  await insertVersionsOfToday(trx, scope, owner, fresh, new Map());
  await requireServiceFits(trx, scope, owner);
}

/**
 * Adds cards at version 1. 400: see `resolveRateCards`. 409: a currency has a current card already.
 */
export async function insertRateCards(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  cards: readonly RateCardWrite[],
  options: RateCardOptions = {},
): Promise<void> {
  if (cards.length === 0) return;
  const resolved = await resolveRateCards(trx, scope, owner, cards, options);
  const currencies = resolved.map(({ currency }) => currency);
  const [taken] = (await currentVersions(trx, scope, owner, currencies)).keys();
  if (taken !== undefined) {
    throw problem.conflict(`There is a current rate card for the currency '${taken}' already.`, {
      field: 'currency',
      value: taken,
    });
  }
  await insertVersionsOfToday(trx, scope, owner, resolved, new Map());
  await requireServiceFits(trx, scope, owner);
}

/** The current card with its warnings. */
async function readWritten(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  owner: CatalogOwner,
  written: Pick<RateCardWrite, 'currency' | 'fromDate'>,
): Promise<RateCardDto> {
  const today = utcDate(now());
  const card = await getRateCard(trx, tenantId, owner, written.currency, today);
  const [warned = card] = await warnOfCards(trx, tenantId, owner, [card], [written], today);
  return warned;
}

/** Adds one card at version 1; see `insertRateCards`. */
export async function insertRateCard(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  card: RateCardWrite,
  options: RateCardOptions = {},
): Promise<RateCardDto> {
  await insertRateCards(trx, scope, owner, [card], options);
  return readWritten(trx, scope, owner, card);
}

/** The code of the currency that the path names. 400: the body has another one. */
export function requireSameCurrency(
  currency: string,
  card: Pick<RateCardWrite, 'currency'>,
): string {
  const code = currencyOfPath(currency);
  if (card.currency === code) return code;
  throw problem.validation(`'currency' must be ${code}, the currency of the address`, {
    field: 'currency',
    value: card.currency,
  });
}

/**
 * Replaces the card of the currency that the path names (spec/resources.md R50 to R52). 400: the
 * body has another currency; see `resolveRateCards`. 404: the currency has no current card.
 */
export async function putRateCard(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  currency: string,
  card: RateCardWrite,
  { makesVersion, ...options }: PutOptions,
): Promise<RateCardDto> {
  const code = requireSameCurrency(currency, card);
  const current = await currentVersions(trx, scope, owner, [code]);
  if (current.size === 0) throw missingRateCard(currency);
  checkFromDates([card], current, options.field);
  const resolved = await resolveRateCards(trx, scope, owner, [card], options);
  await putResolved(trx, scope, owner, resolved, current, makesVersion);
  return readWritten(trx, scope, owner, card);
}

/**
 * Writes a version of a card with resolved rows: the first one, or the successor of the current.
 */
export async function putResolvedCard(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  card: ResolvedCard,
): Promise<RateCardDto> {
  const current = await currentVersions(trx, scope, owner, [card.currency]);
  await putResolved(trx, scope, owner, [card], current, true);
  return readWritten(trx, scope, owner, card);
}

/**
 * Replaces the cards of the owner by these: a currency among them is put, any other is deleted.
 * 400: see `resolveRateCards`.
 */
export async function replaceRateCards(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  cards: readonly RateCardWrite[],
  { makesVersion, ...options }: PutOptions,
): Promise<void> {
  const current = await currentVersions(trx, scope, owner);
  checkFromDates(cards, current, options.field);
  const resolved = await resolveRateCards(trx, scope, owner, cards, options);
  const kept = new Set(resolved.map(({ currency }) => currency));
  const dropped = [...current.keys()].filter((currency) => !kept.has(currency));
  if (dropped.length > 0) await deleteRateCards(trx, scope, owner, dropped);
  await putResolved(trx, scope, owner, resolved, current, makesVersion);
}

/**
 * Deletes the cards of an owner with all their versions and rows: those of the given currencies
 * (codes), or all. A card created again starts at version 1 (spec/resources.md R54).
 */
export async function deleteRateCards(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  currencies?: readonly string[],
): Promise<void> {
  const deletedAt = scope.now();
  const cards = () => {
    const query = RateCard.query(trx).forTenant(scope.tenantId).existing().where(owner);
    return currencies ? query.whereIn('currency', [...currencies]) : query;
  };
  await RateCardRow.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .whereIn('rateCardId', cards().select('rate_card.id'))
    .patch({ deletedAt });
  await cards().patch({ deletedAt });
}

/** Deletes the card of a currency, by code or name. 404: there is no current one. */
export async function deleteRateCard(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  currency: string,
): Promise<void> {
  const code = currencyOfPath(currency);
  const current = await currentVersions(trx, scope, owner, [code]);
  if (current.size === 0) throw missingRateCard(currency);
  await deleteRateCards(trx, scope, owner, [code]);
}

/** Whether a PUT of a card of this service makes a version (spec/resources.md R51, R52). */
export const makesVersion = (service: Service): boolean => service.approvalStatus === 'Approved';

/** Adds a card to a service. 400, 404: no such service. 409: the currency has a card. */
export async function createServiceRateCard(
  scope: Scope,
  serviceId: string,
  card: RateCardWrite,
): Promise<RateCardDto> {
  return scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    return insertRateCard(trx, scope, { serviceId: service.id }, card);
  });
}

/** Replaces a card of a service; on an approved one a new version is made. 400, 404. */
export async function putServiceRateCard(
  scope: Scope,
  serviceId: string,
  currency: string,
  card: RateCardWrite,
): Promise<RateCardDto> {
  return scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    const owner = { serviceId: service.id };
    const options = { makesVersion: makesVersion(service) };
    return putRateCard(trx, scope, owner, currency, card, options);
  });
}

/** Deletes a card of a service with its versions. 404: no such service or card. */
export async function deleteServiceRateCard(
  scope: Scope,
  serviceId: string,
  currency: string,
): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    await deleteRateCard(trx, scope, { serviceId: service.id }, currency);
  });
}
