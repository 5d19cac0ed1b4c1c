import type { Scope } from '../../kernel/scope.js';
import type { RateCardDto } from '../../queries/catalog/rate-card.js';
import type { RateCardWrite } from '../../schemas/catalog/rate-card.js';
import { changeLine, shrinkLine } from '../contracts/contract-service.js';
import type { LineKey } from '../contracts/lock-contract.js';
import { deleteRateCard, insertRateCard, putRateCard } from './rate-card.js';
import {
  deleteCardVersion,
  insertCardVersion,
  type RateCardVersionDto,
  type RateCardVersionWrite,
} from './rate-card-version.js';

/** Gives a line a card of its own. 400, 404: no such line. 409: the currency has one already. */
export async function createExceptionCard(
  scope: Scope,
  key: LineKey,
  card: RateCardWrite,
): Promise<RateCardDto> {
  return changeLine(scope, key, (trx, { line }) =>
    insertRateCard(trx, scope, { contractServiceId: line.id }, card),
  );
}

/** Makes a new version (spec/resources.md R71). 400, 404: no such line or card. */
export async function putExceptionCard(
  scope: Scope,
  key: LineKey,
  currency: string,
  card: RateCardWrite,
): Promise<RateCardDto> {
  return changeLine(scope, key, (trx, { line }) => {
    const owner = { contractServiceId: line.id };
    return putRateCard(trx, scope, owner, currency, card, { makesVersion: true });
  });
}

/** Makes a version; see `insertCardVersion`. 404: there is no such line. */
export async function createExceptionCardVersion(
  scope: Scope,
  key: LineKey,
  currency: string,
  body: RateCardVersionWrite,
): Promise<RateCardVersionDto> {
  return changeLine(scope, key, (trx, { line }) =>
    insertCardVersion(trx, scope, { contractServiceId: line.id }, currency, body),
  );
}

/** Removes a version; see `deleteCardVersion`. 404: there is no such line. */
export async function deleteExceptionCardVersion(
  scope: Scope,
  key: LineKey,
  currency: string,
  versionNo: string,
): Promise<void> {
  await shrinkLine(scope, key, (trx, { line }) =>
    deleteCardVersion(trx, scope, { contractServiceId: line.id }, currency, versionNo),
  );
}

/** Deletes a card with its versions: rating returns to the list price. 404: no such line or card. */
export async function deleteExceptionCard(
  scope: Scope,
  key: LineKey,
  currency: string,
): Promise<void> {
  await shrinkLine(scope, key, (trx, { line }) =>
    deleteRateCard(trx, scope, { contractServiceId: line.id }, currency),
  );
}
