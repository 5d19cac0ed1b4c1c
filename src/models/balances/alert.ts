import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';
import { BillingRecord } from '../db/tenant-model.js';

/** Alerts of a tenant; every rating transaction reads them. */
export const alertsMax = 200;

/** What a tenant wants to be told of. */
export class Alert extends BillingRecord {
  static override tableName = 'alert';

  declare name: string;
  declare accountId: string | null;
  declare contractId: string | null;
  declare walletId: string | null;
  declare serviceId: string | null;
  declare attribute: string | null;
  declare measure: 'spend' | 'quantity' | 'balance';
  declare period: string;
  /** Decimal text, rising. */
  declare thresholds: readonly string[];
  /** The workflow of the tenant that it executes. */
  declare workflowId: string | null;
  declare armedAt: Date;

  /** The alerts on charges. Rating that sees none is over before the first one is there. */
  static async onCharges(trx: Knex.Transaction, tenantId: string): Promise<Alert[]> {
    await sqlRows(trx, `select pg_advisory_xact_lock_shared(hashtextextended('alerts/' || ?, 0))`, [
      tenantId,
    ]);
    return Alert.query(trx)
      .forTenant(tenantId)
      .existing()
      .whereNull('walletId')
      .limit(alertsMax)
      .execute();
  }

  /** Waits until what moves figures without this change is committed, and keeps others from it. */
  static async change(trx: Knex.Transaction, tenantId: string): Promise<void> {
    await sqlRows(trx, `select pg_advisory_xact_lock(hashtextextended('alerts/' || ?, 0))`, [
      tenantId,
    ]);
  }
}

/** The account of figures that are not of one. */
export const noAccount = '00000000-0000-0000-0000-000000000000';

/** A figure that moves: `value` is added, or is what it is now. */
export interface FigureChange {
  readonly alertId: string;
  readonly accountId: string;
  readonly currency: string;
  readonly periodStart: string;
  readonly value: string;
}

export interface Figure extends FigureChange {
  readonly fired: readonly string[];
  /** Whether it moves for the first time in its period. */
  readonly isNew: boolean;
}

const returned = `returning alert_id as "alertId", account_id as "accountId", currency,
  period_start as "periodStart", value, fired, (xmax = 0) as "isNew"`;

const given = `unnest(?::uuid[], ?::uuid[], ?::text[], ?::date[], ?::numeric[])
  as given (alert_id, account_id, currency, period_start, value)`;

const columnsOf = (changes: readonly FigureChange[]) => [
  changes.map(({ alertId }) => alertId),
  changes.map(({ accountId }) => accountId),
  changes.map(({ currency }) => currency),
  changes.map(({ periodStart }) => periodStart),
  changes.map(({ value }) => value),
];

/** Where the figures of alerts stand; their rows are locked in the order of their keys. */
export const AlertFigure = {
  /** Moves figures; `how` says whether the value is added or is the new one. */
  move(
    trx: Knex.Transaction,
    tenantId: string,
    changes: readonly FigureChange[],
    how: 'add' | 'set',
  ): Promise<Figure[]> {
    const value = how === 'add' ? 'known.value + excluded.value' : 'excluded.value';
    return sqlRows<Figure>(
      trx,
      `insert into alert_figure as known
         (tenant_id, alert_id, account_id, currency, period_start, value)
       select ?, given.* from ${given} order by 2, 3, 4, 5
       on conflict on constraint alert_figure_pkey do update set value = ${value} ${returned}`,
      [tenantId, ...columnsOf(changes)],
    );
  },

  /** What stands of figures, by their alert, account and period. */
  find(
    db: Knex,
    tenantId: string,
    asked: readonly Pick<Figure, 'alertId' | 'accountId' | 'periodStart'>[],
  ): Promise<Pick<Figure, 'alertId' | 'currency' | 'value'>[]> {
    return sqlRows(
      db,
      `select figure.alert_id as "alertId", figure.currency, figure.value
       from unnest(?::uuid[], ?::uuid[], ?::date[]) as asked (alert_id, account_id, period_start)
       join alert_figure as figure using (alert_id, account_id, period_start)
       where figure.tenant_id = ? order by figure.currency`,
      [
        asked.map(({ alertId }) => alertId),
        asked.map(({ accountId }) => accountId),
        asked.map(({ periodStart }) => periodStart),
        tenantId,
      ],
    );
  },

  async keep(
    trx: Knex.Transaction,
    tenantId: string,
    { alertId, accountId, currency, periodStart, value, fired }: Omit<Figure, 'isNew'>,
  ): Promise<void> {
    await sqlRows(
      trx,
      `update alert_figure set value = ?, fired = ?::numeric[]
       where tenant_id = ? and alert_id = ? and account_id = ? and currency = ?
         and period_start = ?::date`,
      [value, [...fired], tenantId, alertId, accountId, currency, periodStart],
    );
  },

  /** Lets the figures of an alert begin anew. */
  async forget(trx: Knex.Transaction, tenantId: string, alertId: string): Promise<void> {
    await sqlRows(trx, 'delete from alert_figure where tenant_id = ? and alert_id = ?', [
      tenantId,
      alertId,
    ]);
  },
};
