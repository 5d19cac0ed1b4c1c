import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { requireLine } from '../contracts/contract-service.js';
import {
  getRateCard,
  listCurrentRateCards,
  listRateCardVersions,
  type RateCardDto,
} from './rate-card.js';

/** One page of a line's current exception cards. 404: there is no such line. */
export async function listExceptionCards(
  scope: Scope,
  contractId: string,
  contractServiceId: string,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  await requireLine(scope.db.read, scope.tenantId, contractId, contractServiceId);
  return listCurrentRateCards(scope, { contractServiceId }, page);
}

/** A line's current exception card of a currency. 404: no such line or card. */
export async function getExceptionCard(
  { db, tenantId, now }: Scope,
  contractId: string,
  contractServiceId: string,
  currency: string,
): Promise<RateCardDto> {
  await requireLine(db.read, tenantId, contractId, contractServiceId);
  return getRateCard(db.read, tenantId, { contractServiceId }, currency, utcDate(now()));
}

/** One page of the versions of an exception card. 404: no such line or card. */
export async function listExceptionCardVersions(
  scope: Scope,
  contractId: string,
  contractServiceId: string,
  currency: string,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  await requireLine(scope.db.read, scope.tenantId, contractId, contractServiceId);
  return listRateCardVersions(scope, { contractServiceId }, currency, page);
}
