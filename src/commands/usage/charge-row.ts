import { chargeId } from '../../messages/usage-log.js';
import { pricedRowColumns } from '../../models/usage/priced-row.js';
import type { RatedTransactionRow } from '../../models/usage/rated-transaction.js';
import { StoredRatingPlan } from '../../models/usage/plans/rating-plan.js';
import { counterIdOf } from '../../models/usage/usage-counter.js';
import { chargeOf } from '../../queries/usage/rated-transaction.js';
import type {
  ChargedFacts,
  RatedDimension,
  RatedTransaction as Charge,
} from '../../rating/index.js';

/** The event that is charged, and the number of the charge among all that it ever had, from 1. */
interface ChargePlace {
  readonly eventId: string;
  readonly number: number;
  /** The correction that makes the charge; null where usage is rated as it comes. */
  readonly correctionId: string | null;
  readonly ratedAt: Date;
}

/** A charge as it is stored. */
export function chargeRow(
  { eventId, number, correctionId, ratedAt }: ChargePlace,
  prepared: ChargedFacts,
  charge: Charge,
): RatedTransactionRow {
  const { owner, plan } = prepared;
  const { quantity, amount, discount, dimensions, share } = charge;
  const of = chargeOf(prepared, charge);
  const rows = pricedRowColumns(quantity, amount, dimensions.map(pricedRowOf));
  // Written out, because this is done for every charge: spread objects cost ten times as much.
  return {
    id: chargeId(eventId, number),
    usageEventId: eventId,
    externalTranId: of.externalTranId,
    transactionDate: of.transactionDate,
    accountId: of.accountId,
    masterAccountId: of.masterAccountId,
    serviceId: of.serviceId,
    serviceInstanceId: of.serviceInstanceId,
    contractId: of.contractId,
    contractServiceId: owner.line?.id ?? null,
    amount,
    discount,
    quantity,
    currency: of.currency,
    usageType: of.usageType,
    chargeType: of.chargeType,
    planId: StoredRatingPlan.idOf(plan),
    shareFrom: share?.from ?? null,
    shareTo: share?.to ?? null,
    shareOf: share?.of ?? null,
    sharedAmount: share?.amount ?? null,
    rateCardRowId: rows.rateCardRowId,
    rate: rows.rate,
    rowVolume: rows.rowVolume,
    rowAmount: rows.rowAmount,
    counterId: rows.counterId,
    counterBefore: rows.counterBefore,
    pricedRows: rows.pricedRows,
    correctionId,
    ratedAt,
  };
}

const pricedRowOf = (row: RatedDimension) => ({
  rateCardRowId: row.rowId,
  volume: row.volume,
  rate: row.rate,
  calcAmount: row.calcAmount,
  counterId: row.counter ? counterIdOf(row.counter.keyText) : null,
  counterBefore: row.counter?.before ?? null,
  countedValue: row.counter?.value?.id ?? null,
  sharedVolume: row.whole?.volume ?? null,
  sharedAmount: row.whole?.calcAmount ?? null,
});
