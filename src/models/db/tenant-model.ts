import type { Knex } from 'knex';
import {
  Model,
  QueryBuilder,
  type Constructor,
  type ModelClass,
  type Page,
  type PartialModelObject,
  type Pojo,
  type QueryContext,
} from 'objection';
import { newId } from '../../kernel/id.js';
import { Decimal, decimalText } from '../../kernel/numbers/money.js';

interface TenantContext {
  readonly tenantId?: string;
}

const tenantOf = (context: QueryContext | undefined): string | undefined =>
  (context as TenantContext | undefined)?.tenantId;

/**
 * Whether a builder is only a parenthesized group in a `where()`; the outer query has the tenant.
 */
const isGroup = (builder: object): boolean => (builder as { isPartial(): boolean }).isPartial();

/**
 * A query that is bound to a tenant: without one it throws before it reaches the database. Queries
 * that load relations inherit the tenant. Row-level security enforces the same again.
 */
export class TenantQueryBuilder<M extends Model, R = M[]> extends QueryBuilder<M, R> {
  declare ArrayQueryBuilderType: TenantQueryBuilder<M>;
  declare SingleQueryBuilderType: TenantQueryBuilder<M, M>;
  declare MaybeSingleQueryBuilderType: TenantQueryBuilder<M, M | undefined>;
  declare NumberQueryBuilderType: TenantQueryBuilder<M, number>;
  declare PageQueryBuilderType: TenantQueryBuilder<M, Page<M>>;

  constructor(...args: unknown[]) {
    // Objection creates builders with the model class, which its types do not show.
    super(...(args as []));
    void this.onBuild((builder) => {
      if (isGroup(builder)) return;
      const tenantId = tenantOf(builder.context());
      const table = builder.tableRefFor(builder.modelClass());
      if (tenantId === undefined) throw new Error(`A query on ${table} names no tenant.`);
      if (!builder.isInsert()) void builder.where(`${table}.tenantId`, tenantId);
    });
  }

  forTenant(tenantId: string): this {
    // An empty scope must select nothing, never everything.
    if (tenantId === '') throw new Error('A query was given an empty tenant id.');
    return this.context({ tenantId });
  }

  /** Only rows that were not deleted. */
  existing(): this {
    return this.whereNull(`${this.tableRefFor(this.modelClass())}.deletedAt`);
  }
}

/**
 * Rows of one insert: Objection takes about 50 microseconds for each, in which the event loop is
 * blocked.
 */
const rowsPerInsert = 100;

/** The base of every record that belongs to a tenant. */
export class TenantModel extends Model {
  declare tenantId: string;
  declare id: string;

  declare QueryBuilderType: TenantQueryBuilder<this>;
  static override QueryBuilder = TenantQueryBuilder;
  static override useLimitInFirst = true;

  /**
   * How many relations Objection loads side by side: one in a transaction, which has a single
   * connection.
   */
  static getConcurrency(knex: Knex | undefined): number {
    return knex?.isTransaction === true ? 1 : 4;
  }

  /** Inserts any number of records in their order, and answers with them. */
  static async insertAll<M extends TenantModel>(
    this: Constructor<M>,
    trx: Knex.Transaction,
    tenantId: string,
    records: readonly PartialModelObject<M>[],
  ): Promise<M[]> {
    const inserted: M[] = [];
    for (let start = 0; start < records.length; start += rowsPerInsert) {
      const some = records.slice(start, start + rowsPerInsert);
      const query = (this as ModelClass<M>).query(trx) as unknown as TenantQueryBuilder<M>;
      inserted.push(...(await query.forTenant(tenantId).insert(some)));
    }
    return inserted;
  }

  override $beforeInsert(context: QueryContext): void {
    const tenantId = tenantOf(context);
    if (tenantId === undefined) {
      throw new Error(
        `An insert into ${(this.constructor as typeof Model).tableName} names no tenant.`,
      );
    }
    this.tenantId = tenantId;
    this.id ??= newId();
  }

  /** Decimals go to the database as plain text, inside JSON columns too. */
  override $formatDatabaseJson(json: Pojo): Pojo {
    for (const [name, value] of Object.entries(json)) {
      if (value instanceof Decimal) json[name] = decimalText(value);
    }
    return super.$formatDatabaseJson(json);
  }
}

/** A record that has its own times and is deleted softly. */
export class BillingRecord extends TenantModel {
  declare createdAt: Date;
  declare updatedAt: Date;
  declare deletedAt: Date | null;
}

/** A record that flows approve. */
export class ApprovableRecord extends BillingRecord {
  /** Draft, Pending Approval, Approved or Rejected. */
  declare approvalStatus: string;
}
