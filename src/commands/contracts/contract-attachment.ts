import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { jsonSafe } from '../../kernel/text/json.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { Account } from '../../models/accounts/account.js';
import type { Contract } from '../../models/contracts/contract.js';
import { Service } from '../../models/catalog/service.js';
import { getAttachment, type AttachmentDto } from '../../queries/contracts/contract-attachment.js';
import type * as schema from '../../schemas/contracts/contract-attachment.js';
import { insertLines, lockServicesOf, type LineInput } from './contract-lines.js';
import { changeLine, patchLine, requireSameService } from './contract-service.js';
import { copyCatalogCard } from '../catalog/copy-card.js';
import { setDimensionValues } from './line-dimensions.js';
import { lockContract, type LineKey } from './lock-contract.js';
import { namedInBody } from '../rules/named-in-body.js';
import { requireSameId } from '../rules/same-id.js';
import { requireAccountFits } from '../rules/size-limits.js';

type AttachmentCreate = Static<typeof schema.AttachmentCreate>;
type AttachmentUpdate = Static<typeof schema.AttachmentUpdate>;
type Shares = AttachmentCreate['billAccountShares'];

/** 400: a share is of an account that the tenant does not have. */
async function requireAccountsOf(
  trx: Knex.Transaction,
  tenantId: string,
  shares: Shares,
): Promise<void> {
  const ids = Object.keys(shares ?? {});
  if (ids.length === 0) return;
  const accounts = await Account.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereIn('id', ids)
    .select('id');
  const known = new Set(accounts.map(({ id }) => id));
  const missing = ids.find((id) => !known.has(id.toLowerCase()));
  if (missing === undefined) return;
  const field = `billAccountShares.${missing}`;
  throw problem.validation(`'${field}' names no account: '${missing}'`, { field, value: missing });
}

/** The shares as a JSON column keeps them: by canonical id. 400: an account comes twice. */
function storedShares(shares: NonNullable<Shares>): Record<string, unknown> {
  const stored = new Map<string, unknown>();
  for (const [name, share] of Object.entries(shares)) {
    const id = name.toLowerCase();
    if (stored.has(id)) {
      const field = `billAccountShares.${name}`;
      throw problem.validation(`'${field}' must not come twice`, { field, value: name });
    }
    stored.set(id, jsonSafe(share));
  }
  return Object.fromEntries(stored);
}

/** What a body of family B gives of a line, under our names. */
function lineInput({ billAccountShares: shares, ...input }: AttachmentUpdate): LineInput {
  const { startDate, endDate, dimensionValues } = input;
  const { chargeFrequency, billingFrequency, subscriptionChargeType } = input;
  return {
    ...defined({
      startDate,
      endDate,
      dimensionValues,
      chargeFrequency,
      billingFrequency,
      subscriptionChargeType,
    }),
    ...(shares === undefined ? {} : { accountMap: shares === null ? null : storedShares(shares) }),
  };
}

/**
 * The currency that usage of a line is rated in: the contract's, else the account's default, else
 * the service's (spec/rating.md R14). Null: none of them has one.
 */
async function currencyOf(
  trx: Knex.Transaction,
  tenantId: string,
  contract: Contract,
  serviceId: string,
): Promise<string | null> {
  if (contract.currency !== null) return contract.currency;
  const account = await Account.query(trx).forTenant(tenantId).findById(contract.masterAccountId);
  const service = await Service.query(trx).forTenant(tenantId).findById(serviceId);
  return account?.defaultCurrency ?? service?.currency ?? null;
}

/**
 * Attaches a service to a contract (spec/platform.md R4): the line with its dimensions and shares,
 * and the current list prices in the contract's currency as its exception card. 400:
 * contract, service, account or dimension does not exist, or the dates contradict
 * each other.
 */
export async function attachService(scope: Scope, body: AttachmentCreate): Promise<AttachmentDto> {
  const { parentId, serviceId, billAccountShares, dimensionValues } = body;
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const contract = await namedInBody('parentId', parentId, () =>
      lockContract(trx, scope, parentId),
    );
    const lines = [{ serviceId, input: lineInput(body), at: '' }];
    await lockServicesOf(trx, scope, lines);
    await requireAccountsOf(trx, tenantId, billAccountShares);
    const [id = ''] = await insertLines(trx, scope, contract, lines);
    await setDimensionValues(trx, tenantId, { id, serviceId }, dimensionValues ?? {});
    const currency = await currencyOf(trx, tenantId, contract, serviceId);
    if (currency !== null) {
      await copyCatalogCard(trx, scope, { serviceId, contractServiceId: id, currency });
      await requireAccountFits(trx, scope, contract.masterAccountId);
    }
    return getAttachment(trx, tenantId, id, utcDate(scope.now()));
  });
}

/**
 * Changes what is given; shares and dimension values, when present, replace those that the line has.
 * 400: as for `attachService`, or another contract or service is named. 404: there is no such line.
 */
export async function updateAttachment(
  scope: Scope,
  key: LineKey,
  body: AttachmentUpdate,
): Promise<AttachmentDto> {
  return changeLine(scope, key, async (trx, locked) => {
    const { line } = locked;
    requireSameId('parentId', body.parentId, line.contractId);
    requireSameService(body.serviceId, line);
    await requireAccountsOf(trx, scope.tenantId, body.billAccountShares);
    if (body.dimensionValues !== undefined) {
      await setDimensionValues(trx, scope.tenantId, line, body.dimensionValues ?? {});
    }
    await patchLine(trx, scope, locked, lineInput(body));
    return getAttachment(trx, scope.tenantId, line.id, utcDate(scope.now()));
  });
}
