import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import { BulkTable } from '../db/bulk-table.js';
import { TenantModel } from '../db/tenant-model.js';

export interface RatedDimensionRow {
  readonly transactionId: string;
  /** Counted from 0 in the transaction. */
  readonly position: number;
  readonly dimensionId: string;
  readonly dimensionName: string;
  readonly rateCardRowId: string;
  readonly volume: Decimal;
  readonly rate: Decimal;
  readonly calcAmount: Decimal;
  readonly currency: string;
  readonly priceMethodType: string;
  readonly itemType: string;
  readonly billStartDate: string;
  readonly billEndDate: string;
  readonly counterId: string | null;
  readonly counterBefore: Decimal | null;
  /** What several accounts share, where the row is the part of one of them. */
  readonly sharedVolume: Decimal | null;
  readonly sharedAmount: Decimal | null;
}

const table = new BulkTable<RatedDimensionRow>('rated_dimension', {
  transactionId: 'uuid',
  position: 'smallint',
  dimensionId: 'uuid',
  dimensionName: 'text',
  rateCardRowId: 'uuid',
  volume: 'numeric',
  rate: 'numeric',
  calcAmount: 'numeric',
  currency: 'text',
  priceMethodType: 'text',
  itemType: 'text',
  billStartDate: 'date',
  billEndDate: 'date',
  counterId: 'uuid',
  counterBefore: 'numeric',
  sharedVolume: 'numeric',
  sharedAmount: 'numeric',
});

/** One priced row of a rated transaction. */
export class RatedDimension extends TenantModel {
  static override tableName = 'rated_dimension';
  static override idColumn = ['tenantId', 'transactionId', 'position'];

  declare transactionId: string;
  declare position: number;
  declare dimensionId: string;
  declare dimensionName: string;
  declare rateCardRowId: string;
  /** Volumes, rates and amounts are decimal text. */
  declare volume: string;
  declare rate: string;
  declare calcAmount: string;
  declare currency: string;
  declare priceMethodType: string;
  declare itemType: string;
  declare billStartDate: string;
  declare billEndDate: string;
  declare isProrated: boolean;
  declare counterId: string | null;
  declare counterBefore: string | null;

  static insertMany(
    trx: Knex.Transaction,
    tenantId: string,
    rows: readonly RatedDimensionRow[],
  ): Promise<void> {
    return table.insert(trx, tenantId, rows);
  }
}
