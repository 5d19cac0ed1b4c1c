import type { Knex } from 'knex';
import { newId } from '../../../kernel/id.js';
import { decimalText } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { dayBefore, utcDate } from '../../../kernel/time/date.js';
import { Attribute, type CatalogOwner } from '../../../models/catalog/attribute.js';
import { RateCard } from '../../../models/catalog/rate-card.js';
import { Service } from '../../../models/catalog/service.js';
import { ContractService } from '../../../models/contracts/contract-service.js';
import { pricingLogicOf } from '../../../queries/catalog/pricing-logic.js';
import type { ChangedFact } from '../../../queries/usage/repricing/changed-facts.js';
import type { CardFacts } from '../../../rating/index.js';
import type {
  AdjustmentChange,
  ExceptionCardChange,
  PricingLogicChange,
  RateCardChange,
  RepricingChange,
  UsageChange,
} from '../../../schemas/usage/repricing-change.js';
import { createAdjustment } from '../../billing/adjustments/adjustment.js';
import { createExceptionCardVersion } from '../../catalog/exception-card.js';
import {
  checkPricingLogic,
  createPricingLogic,
  updatePricingLogic,
} from '../../catalog/pricing-logic.js';
import { resolveRateCards } from '../../catalog/rate-card-rows.js';
import {
  createServiceCardVersion,
  spanOfVersion,
  type RateCardVersionDto,
  type VersionSpan,
} from '../../catalog/rate-card-version.js';
import { resolveTriedAdjustment } from './tried-adjustment.js';

/** What promoting a change has made. */
export interface PromotedVersion extends VersionSpan {
  readonly kind: string;
  readonly serviceId: string | null;
  readonly contractServiceId: string | null;
  readonly currency: string | null;
  readonly versionNo: number | null;
  readonly pricingLogicId: string | null;
  readonly adjustmentId: string | null;
  readonly affectedEvents: number | null;
}

/** Where a change is in the request, and the first day of the usage that is rated with it. */
interface Place {
  readonly at: string;
  readonly fromDate: string;
}

/** What can be done with changes of a kind. */
interface ChangeKind<C> {
  /** The change as rating knows it. 400: a reference or a value does not fit. */
  readonly resolve: (
    trx: Knex.Transaction,
    scope: Scope,
    change: C,
    place: Place,
  ) => Promise<ChangedFact>;
  /** Puts it in force from a day on, in the transaction of the scope. */
  readonly promote: (
    trx: Knex.Transaction,
    scope: Scope,
    change: C,
    fromDate: string,
  ) => Promise<PromotedVersion>;
}

const none = {
  serviceId: null,
  contractServiceId: null,
  currency: null,
  versionNo: null,
  toDate: null,
  nextVersionNo: null,
  isFirst: false,
  pricingLogicId: null,
  adjustmentId: null,
  affectedEvents: null,
};

async function requireService(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  serviceId: string,
  field: string,
): Promise<void> {
  const found = await Service.query(trx).forTenant(tenantId).existing().findById(serviceId);
  if (found) return;
  throw problem.validation(`'${field}' names no service: '${serviceId}'`, {
    field,
    value: serviceId,
  });
}

const hasCard = async (
  trx: Knex.Transaction,
  { tenantId }: Scope,
  owner: CatalogOwner,
  currency: string,
): Promise<boolean> =>
  (await RateCard.query(trx)
    .forTenant(tenantId)
    .existing()
    .where({ ...owner, currency })
    .resultSize()) > 0;

/** A card that is tried, as rating knows it: its number is 0. */
async function cardOf(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  { currency, rows }: Pick<RateCardChange, 'currency' | 'rows'>,
  { at, fromDate }: Place,
): Promise<CardFacts> {
  const rowsField = `${at}.rows`;
  const [card] = await resolveRateCards(trx, scope, owner, [{ currency, rows }], { rowsField });
  // As JSON, in which decimals are text: the form in which rating gets the rows of stored cards.
  const plain = JSON.parse(JSON.stringify(card?.rows ?? [])) as CardRow[];
  return {
    id: newId(),
    currency,
    versionNo: 0,
    fromDate,
    toDate: null,
    rows: plain.map(({ attributeValues, ...row }) => ({
      id: newId(),
      attributeId: row.attributeId,
      attributeName: row.attributeName,
      label: row.label,
      usageType: row.usageType,
      billingAccountId: row.billingAccountId,
      priceMethod: row.priceMethod,
      rates: row.rates,
      attributeValues: attributeValues.map(({ attributeName: name, attributeValue: value }) => ({
        name,
        value,
      })),
    })),
  };
}
type CardRow = Awaited<ReturnType<typeof resolveRateCards>>[number]['rows'][number];

/** What promoting says of a version that was made of a card. */
const madeOfCard = async (
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  version: RateCardVersionDto,
) => ({
  versionNo: version.versionNo,
  affectedEvents: version.affectedEvents,
  ...(await spanOfVersion(trx, scope, owner, version)),
});

const rateCard: ChangeKind<RateCardChange> = {
  resolve: async (trx, scope, change, place) => {
    const { serviceId, currency } = change;
    await requireService(trx, scope, serviceId, `${place.at}.serviceId`);
    if (!(await hasCard(trx, scope, { serviceId }, currency))) {
      const field = `${place.at}.currency`;
      throw problem.validation(`'${field}': the service has no rate card in ${currency}.`, {
        field,
        value: currency,
      });
    }
    const card = await cardOf(trx, scope, { serviceId }, change, place);
    return { kind: 'rateCard', serviceId, card };
  },
  promote: async (trx, scope, { kind, serviceId, currency, rows }, fromDate) => {
    const body = { currency, rows, fromDate };
    const version = await createServiceCardVersion(scope, serviceId, currency, body);
    const made = await madeOfCard(trx, scope, { serviceId }, version);
    return { ...none, ...made, kind, serviceId, currency };
  },
};

const exceptionCard: ChangeKind<ExceptionCardChange> = {
  resolve: async (trx, scope, change, place) => {
    const { contractServiceId } = change;
    const line = await ContractService.query(trx)
      .forTenant(scope.tenantId)
      .existing()
      .findById(contractServiceId);
    if (!line) {
      const field = `${place.at}.contractServiceId`;
      throw problem.validation(`'${field}' names no contract line: '${contractServiceId}'`, {
        field,
        value: contractServiceId,
      });
    }
    const card = await cardOf(trx, scope, { contractServiceId }, change, place);
    return { kind: 'exceptionCard', serviceId: line.serviceId, contractServiceId, card };
  },
  promote: async (trx, scope, { kind, contractServiceId, currency, rows }, fromDate) => {
    if (!(await hasCard(trx, scope, { contractServiceId }, currency))) {
      throw problem.conflict(
        `The line has no card in ${currency}, and a first version would hold for all days before ` +
          `${fromDate}, too: give it the list price first, then promote.`,
        { contractServiceId },
      );
    }
    const body = { currency, rows, fromDate };
    const version = await createExceptionCardVersion(scope, { contractServiceId }, currency, body);
    const made = await madeOfCard(trx, scope, { contractServiceId }, version);
    return { ...none, ...made, kind, contractServiceId, currency };
  },
};

const pricingLogic: ChangeKind<PricingLogicChange> = {
  resolve: async (trx, scope, change, { at }) => {
    const { serviceId, name, priceOutput, steps } = change;
    await requireService(trx, scope, serviceId, `${at}.serviceId`);
    await checkPricingLogic(trx, scope, serviceId, change, at);
    return {
      kind: 'pricingLogic',
      serviceId,
      logic: {
        id: newId(),
        seqNo: 1,
        name,
        chargeType: change.chargeType ?? null,
        usageType: change.usageType ?? 'Charge',
        priceOutput,
        steps: steps.map((step) => ({
          name: step.name,
          label: step.label ?? null,
          formula: step.formula,
        })),
      },
    };
  },
  promote: async (trx, scope, { kind, serviceId, ...logic }, fromDate) => {
    if (fromDate > utcDate(scope.now())) {
      throw problem.conflict(
        `Pricing logic has no versions: it would price all usage from now on, not from ${fromDate}.`,
        { field: 'fromDate', value: fromDate },
      );
    }
    const known = await pricingLogicOf(trx, scope.tenantId, serviceId);
    const id = known.find(({ name }) => name === logic.name)?.id;
    const written =
      id === undefined
        ? await createPricingLogic(scope, serviceId, logic)
        : await updatePricingLogic(scope, serviceId, id, {
            ...logic,
            usageType: logic.usageType ?? 'Charge',
            chargeType: logic.chargeType ?? null,
          });
    return { ...none, kind, serviceId, pricingLogicId: written.id };
  },
};

/** 400: no service, or not this one, and no line of it has a dimension of this name. */
async function requireAttribute(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  name: string,
  serviceId: string | null,
  field: string,
): Promise<void> {
  const named = Attribute.query(trx).forTenant(tenantId).existing().where({ name });
  if (serviceId !== null) {
    const lines = ContractService.query(trx).forTenant(tenantId).existing().where({ serviceId });
    void named.where((of) => {
      void of.where({ serviceId }).orWhereIn('contractServiceId', lines.select('id'));
    });
  }
  if ((await named.resultSize()) > 0) return;
  const known = serviceId === null ? 'no service has' : 'the service has no';
  throw problem.validation(`'${field}' names no dimension: ${known} '${name}'`, {
    field,
    value: name,
  });
}

const usage: ChangeKind<UsageChange> = {
  resolve: async (trx, scope, { factor, serviceId = null, attribute = null }, { at }) => {
    if (serviceId !== null) await requireService(trx, scope, serviceId, `${at}.serviceId`);
    if (attribute !== null) {
      await requireAttribute(trx, scope, attribute, serviceId, `${at}.attribute`);
    }
    return { kind: 'usage', factor: decimalText(factor), serviceId, attribute };
  },
  promote: () =>
    Promise.reject(
      problem.validation('A change of usage is no price: there is nothing to put in force.', {
        field: 'changes',
      }),
    ),
};

const adjustment: ChangeKind<AdjustmentChange> = {
  resolve: async (trx, scope, change, { at }) => resolveTriedAdjustment(trx, scope, change, at),
  promote: async (_trx, scope, { kind, adjustment: given }, fromDate) => {
    const made = await createAdjustment(scope, { ...given, from: fromDate });
    const { id, serviceId, contractServiceId, currency, to } = made;
    const toDate = to === null ? null : dayBefore(to);
    return { ...none, kind, serviceId, contractServiceId, currency, toDate, adjustmentId: id };
  },
};

/** Every kind of change. */
const kinds: {
  readonly [K in RepricingChange['kind']]: ChangeKind<Extract<RepricingChange, { kind: K }>>;
} = { rateCard, exceptionCard, pricingLogic, usage, adjustment };

const kindOf = ({ kind }: RepricingChange): ChangeKind<RepricingChange> =>
  kinds[kind] as ChangeKind<RepricingChange>;

/** What a change stands in place of, so that two of it contradict each other; null: it adds up. */
function placeTaken(change: RepricingChange): string | null {
  if (change.kind === 'rateCard') return `card ${change.serviceId} ${change.currency}`;
  if (change.kind === 'exceptionCard') return `card ${change.contractServiceId} ${change.currency}`;
  if (change.kind === 'pricingLogic') return `logic ${change.serviceId} ${change.name}`;
  return null;
}

/** 400: two changes are of the same card, or of the same logic. */
function requireApart(changes: readonly RepricingChange[]): void {
  const taken = new Map<string, number>();
  for (const [index, change] of changes.entries()) {
    const place = placeTaken(change);
    if (place === null) continue;
    const first = taken.get(place);
    if (first !== undefined) {
      throw problem.validation(
        `'changes[${index}]' is of the same ${place.slice(0, place.indexOf(' '))} as 'changes[${first}]'`,
        { field: `changes[${index}]` },
      );
    }
    taken.set(place, index);
  }
}

/** The changes as rating knows them. 400: a reference or a value does not fit, or two contradict. */
export async function resolveChanges(
  trx: Knex.Transaction,
  scope: Scope,
  changes: readonly RepricingChange[],
  fromDate: string,
): Promise<ChangedFact[]> {
  requireApart(changes);
  const facts: ChangedFact[] = [];
  for (const [index, change] of changes.entries()) {
    const place = { at: `changes[${index}]`, fromDate };
    facts.push(await kindOf(change).resolve(trx, scope, change, place));
  }
  return facts;
}

/** Puts a change in force from a day on, in the transaction of the scope. */
export const promoteChange = (
  trx: Knex.Transaction,
  scope: Scope,
  change: RepricingChange,
  fromDate: string,
): Promise<PromotedVersion> => kindOf(change).promote(trx, scope, change, fromDate);
