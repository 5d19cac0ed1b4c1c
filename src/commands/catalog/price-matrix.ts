import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { Service } from '../../models/catalog/service.js';
import {
  presentExceptionMatrix,
  presentPriceMatrix,
  type ExceptionMatrixDto,
  type PriceMatrixDto,
} from '../../queries/catalog/price-matrix.js';
import { getRateCard, type RateCardDto } from '../../queries/catalog/rate-card.js';
import type { RateCardWrite } from '../../schemas/catalog/rate-card.js';
import { changeLine } from '../contracts/contract-service.js';
import { copyCatalogCard } from './copy-card.js';
import { lockLine, type LockedLine } from '../contracts/lock-contract.js';
import { keepService, lockService } from './lock-service.js';
import { namedInBody } from '../rules/named-in-body.js';
import { insertRateCard, makesVersion, putRateCard } from './rate-card.js';

/*
 * Price matrices are rate cards under other names; the body names their owner
 * (spec/platform.md R7).
 */

const options = { rowsField: 'priceMatrixRows' };

/** The prices that take the place of others; without rows nothing changes. */
export interface CardChange {
  readonly currency: string;
  readonly rows?: RateCardWrite['rows'];
}

async function changeService(
  scope: Scope,
  serviceId: string,
  change: (trx: Knex.Transaction, service: Service) => Promise<RateCardDto>,
): Promise<PriceMatrixDto> {
  return scope.db.transaction(async (trx) => {
    const service = await namedInBody('serviceId', serviceId, () =>
      lockService(trx, scope, serviceId),
    );
    return presentPriceMatrix(service.id, await change(trx, service));
  });
}

/** Changes a line that the body names under this field. 400: there is none. */
async function changeNamedLine(
  scope: Scope,
  field: string,
  contractServiceId: string,
  change: (trx: Knex.Transaction, locked: LockedLine) => Promise<RateCardDto>,
): Promise<ExceptionMatrixDto> {
  const lock: typeof lockLine = (trx, ...found) =>
    namedInBody(field, contractServiceId, () => lockLine(trx, ...found));
  const key = { contractServiceId };
  const card = await changeLine(scope, key, change, lock);
  return presentExceptionMatrix(contractServiceId, card);
}

/** Gives a service list prices. 400: no such service. 409: it has prices of this currency. */
export async function insertPriceMatrix(
  scope: Scope,
  serviceId: string,
  card: RateCardWrite,
): Promise<PriceMatrixDto> {
  return changeService(scope, serviceId, (trx, service) =>
    insertRateCard(trx, scope, { serviceId: service.id }, card, options),
  );
}

/**
 * Replaces list prices; on an approved service a new version is made. 400: no such service. 404: it
 * has no prices of this currency.
 */
export async function updatePriceMatrix(
  scope: Scope,
  serviceId: string,
  { currency, rows }: CardChange,
): Promise<PriceMatrixDto> {
  return changeService(scope, serviceId, (trx, service) => {
    const owner = { serviceId: service.id };
    if (!rows) return getRateCard(trx, scope.tenantId, owner, currency, utcDate(scope.now()));
    const put = { ...options, makesVersion: makesVersion(service) };
    return putRateCard(trx, scope, owner, currency, { currency, rows }, put);
  });
}

/** Gives a line exception prices. 400: no such line. 409: it has prices of this currency. */
export async function insertExceptionMatrix(
  scope: Scope,
  contractServiceId: string,
  card: RateCardWrite,
): Promise<ExceptionMatrixDto> {
  return changeNamedLine(scope, 'contractSvcId', contractServiceId, (trx, { line }) =>
    insertRateCard(trx, scope, { contractServiceId: line.id }, card, options),
  );
}

/**
 * Makes a new version of exception prices (spec/resources.md R71). 400: no such line. 404: it has
 * no prices of this currency.
 */
export async function updateExceptionMatrix(
  scope: Scope,
  contractServiceId: string,
  { currency, rows }: CardChange,
): Promise<ExceptionMatrixDto> {
  return changeNamedLine(scope, 'contractSvcId', contractServiceId, (trx, { line }) => {
    const owner = { contractServiceId: line.id };
    if (!rows) return getRateCard(trx, scope.tenantId, owner, currency, utcDate(scope.now()));
    const put = { ...options, makesVersion: true };
    return putRateCard(trx, scope, owner, currency, { currency, rows }, put);
  });
}

/** What to copy onto a line, and from where. */
export interface PricingCopy {
  readonly contractServiceId: string;
  readonly serviceId: string;
  /** The code of the currency. */
  readonly currency: string;
}

/**
 * Puts the list prices of a service in the place of a line's exception prices of that currency. 400:
 * no such line or service, or a row prices what the line does not have. 404: the service has no
 * prices of this currency.
 */
export async function copyPricing(
  scope: Scope,
  { contractServiceId, serviceId, currency }: PricingCopy,
): Promise<ExceptionMatrixDto> {
  const field = 'q2cEntityServiceId';
  return changeNamedLine(scope, field, contractServiceId, async (trx, { line }) => {
    const source = await namedInBody('sourceServiceId', serviceId, () =>
      keepService(trx, scope, serviceId),
    );
    const copy = { serviceId: source.id, contractServiceId: line.id, currency };
    const card = await copyCatalogCard(trx, scope, copy);
    if (!card) {
      throw problem.notFound(
        `The service '${source.name}' has no prices in the currency '${currency}'.`,
      );
    }
    return card;
  });
}
