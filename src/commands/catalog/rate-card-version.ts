import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { utcDate } from '../../kernel/time/date.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import { ownersOf, RateCard } from '../../models/catalog/rate-card.js';
import { RateCardRow } from '../../models/catalog/rate-card-row.js';
import { warnOfCards } from '../../queries/catalog/card-warnings.js';
import { currencyOfPath, missingRateCard, presentCard } from '../../queries/catalog/rate-card.js';
import type * as schema from '../../schemas/catalog/rate-card.js';
import { requireServiceFits } from '../rules/size-limits.js';
import { countAffectedEvents } from './affected-events.js';
import { lockService } from './lock-service.js';
import { resolveRateCards, type ResolvedCard } from './rate-card-rows.js';
import { insertVersions, requireSameCurrency } from './rate-card.js';

/*
 * Versions of a card that begin on a day of their own, past, today or to come (spec/beyond.md R60 to
 * R64). As in rate-card.ts, who calls a function that takes an owner holds the owner's row.
 */

export type RateCardVersionWrite = Static<typeof schema.RateCardVersionWrite>;
export type RateCardVersionDto = Static<typeof schema.RateCardVersion>;

const versionsOf = (
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  owner: CatalogOwner,
  currency: string,
) => RateCard.versionsOn(trx, tenantId, utcDate(now()), ownersOf(owner)).where({ currency });

/** Inserts a version that begins on a day; the card has none that does. Answers with its id. */
async function insertDatedVersion(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  card: ResolvedCard,
  fromDate: string,
): Promise<string> {
  const today = utcDate(scope.now());
  const current = await versionsOf(trx, scope, owner, card.currency);
  const inForce = current.find(({ isInForce }) => isInForce);
  const isCurrent =
    fromDate <= today &&
    (inForce === undefined || fromDate > inForce.fromDate || inForce.fromDate > today);
  const [id = ''] = await insertVersions(trx, scope, owner, [{ card, fromDate, isCurrent }]);
  return id;
}

/**
 * Makes a version that begins on the day of the body. 400: see `putRateCard`. 404: the currency has
 * no card. 409: a version begins on that day.
 */
export async function insertCardVersion(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  currency: string,
  body: RateCardVersionWrite,
): Promise<RateCardVersionDto> {
  const { tenantId } = scope;
  const { fromDate } = body;
  const code = requireSameCurrency(currency, body);
  const versions = await versionsOf(trx, scope, owner, code).orderBy(['fromDate', 'versionNo']);
  if (versions.length === 0) throw missingRateCard(currency);
  const same = versions.findLast((version) => version.fromDate === fromDate);
  if (same) {
    throw problem.conflict(
      `Version ${same.versionNo} of the card in ${code} begins on ${fromDate} already.`,
      { field: 'fromDate', value: fromDate },
    );
  }
  const [resolved] = await resolveRateCards(trx, scope, owner, [body], {});
  if (!resolved) throw new Error('One card was resolved to none.');
  const id = await insertDatedVersion(trx, scope, owner, resolved, fromDate);
  await requireServiceFits(trx, scope, owner);
  const version = await versionsOf(trx, scope, owner, code).findById(id);
  if (!version) throw new Error('A version that was inserted is not there.');
  await RateCard.withRows(trx, tenantId, [version]);
  const card = await presentCard(version);
  const [warned = card] = await warnOfCards(trx, tenantId, owner, [card], [body], fromDate);
  const affectedEvents = await countAffectedEvents(trx, tenantId, owner, {
    currency: code,
    // Before the first version the earliest one holds.
    first: versions.some((other) => other.fromDate < fromDate) ? fromDate : null,
    end: versions.find((other) => other.fromDate > fromDate)?.fromDate ?? null,
  });
  return { ...warned, affectedEvents };
}

/** When a version holds, whatever day it was to begin on. */
export interface VersionSpan {
  /** Its last day, and the version that follows; null: none does. */
  readonly toDate: string | null;
  readonly nextVersionNo: number | null;
  /** Whether it is the earliest, which holds for all days before, too. */
  readonly isFirst: boolean;
}

/** When a version of a card holds. */
export async function spanOfVersion(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  { currency, versionNo }: Pick<RateCardVersionDto, 'currency' | 'versionNo'>,
): Promise<VersionSpan> {
  const versions = await versionsOf(trx, scope, owner, currency).orderBy(['fromDate', 'versionNo']);
  const place = versions.findIndex((version) => version.versionNo === versionNo);
  return {
    toDate: versions[place]?.lastDay ?? null,
    nextVersionNo: versions[place + 1]?.versionNo ?? null,
    isFirst: place === 0,
  };
}

/**
 * Removes a version that is not in force yet, with its rows. 404: there is no such card or version.
 * 409: it is in force, or was.
 */
export async function deleteCardVersion(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  currency: string,
  versionNo: string,
): Promise<void> {
  const code = currencyOfPath(currency);
  const isNumber = /^[1-9]\d{0,8}$/.test(versionNo);
  const version = isNumber
    ? await versionsOf(trx, scope, owner, code).findOne({ versionNo: Number(versionNo) })
    : undefined;
  if (!version) {
    throw problem.notFound(`The card in '${currency}' has no version '${versionNo}'.`);
  }
  const deletedAt = scope.now();
  if (version.isInForce || version.fromDate <= utcDate(deletedAt)) {
    throw problem.conflict(
      `Version ${versionNo} is in force since ${version.fromDate}: usage may have been priced by it. ` +
        `POST .../rate-cards/${code}/versions puts another one in its place.`,
      { field: 'versionNo', value: versionNo },
    );
  }
  await RateCardRow.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .where({ rateCardId: version.id })
    .patch({ deletedAt });
  await RateCard.query(trx)
    .forTenant(scope.tenantId)
    .findById(version.id)
    .patch({ deletedAt, updatedAt: deletedAt });
}

/** Makes a version of a service's card; see `insertCardVersion`. 404: there is no such service. */
export async function createServiceCardVersion(
  scope: Scope,
  serviceId: string,
  currency: string,
  body: RateCardVersionWrite,
): Promise<RateCardVersionDto> {
  return scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    return insertCardVersion(trx, scope, { serviceId: service.id }, currency, body);
  });
}

/** Removes a version of a service's card; see `deleteCardVersion`. 404: there is no such service. */
export async function deleteServiceCardVersion(
  scope: Scope,
  serviceId: string,
  currency: string,
  versionNo: string,
): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    await deleteCardVersion(trx, scope, { serviceId: service.id }, currency, versionNo);
  });
}
