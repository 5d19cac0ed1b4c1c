import type { Knex } from 'knex';
import { dayAfter } from '../../kernel/time/date.js';
import type { Scope } from '../../kernel/scope.js';
import { Invoice } from '../../models/billing/invoice.js';
import { nextBalanceDues } from '../../models/balances/wallet-balance.js';
import { WorkflowSchedules } from '../../models/workflows/schedule.js';
import { startDueSchedules } from '../workflows/schedule.js';
import { settleDue } from '../balances/grant.js';
import { releaseDueHolds } from '../balances/holds/release-due-holds.js';
import { markOverdueInvoices } from '../billing/overdue-invoices.js';

/**
 * What falls due by the time of a tenant, beside its schedules: watches do it for all tenants, and the
 * clock of a sandbox on its way. What expires some day belongs here.
 */
export interface DueWork {
  /** What `POST /v1/clock` calls it. */
  readonly kind: string;
  /** When the next of what is not done falls due; undefined: nothing does. */
  readonly next: (db: Knex, tenantId: string) => Promise<Date | undefined>;
  /** Does what is due at the scope's time, and counts it. */
  readonly work: (scope: Scope) => Promise<number>;
}

/** Invoices marked in one transaction. */
const invoicesMax = 200;

const overdueInvoices: DueWork = {
  kind: 'overdue-invoices',
  next: async (db, tenantId) => {
    const dueDate = await Invoice.nextDueDate(db, tenantId);
    return dueDate === undefined ? undefined : new Date(`${dayAfter(dueDate)}T00:00:00Z`);
  },
  work: async (scope) => {
    for (let count = 0; ;) {
      const marked = await markOverdueInvoices(scope, invoicesMax);
      count += marked;
      if (marked < invoicesMax) return count;
    }
  },
};

/** Wallets and accounts that are settled before it is asked again. */
const walletsMax = 100;

/** Repeats work that does a portion at a time, until a portion is not full. */
async function untilDone(portion: () => Promise<number>): Promise<number> {
  for (let count = 0; ;) {
    const done = await portion();
    count += done;
    if (done < walletsMax) return count;
  }
}

/** Grants that take effect or expire, counted by their wallets. */
const grants: DueWork = {
  kind: 'grants',
  next: async (db, tenantId) => (await nextBalanceDues(db, tenantId)).grants ?? undefined,
  work: (scope) => untilDone(() => settleDue(scope, walletsMax)),
};

/** Holds whose time is over, counted by their accounts. */
const holds: DueWork = {
  kind: 'holds',
  next: async (db, tenantId) => (await nextBalanceDues(db, tenantId)).holds ?? undefined,
  work: (scope) => untilDone(() => releaseDueHolds(scope, walletsMax)),
};

/** Tenants' workflows that are started at once. */
const schedulesMax = 100;

/** Workflows of the tenant whose schedule has come. */
const workflowSchedules: DueWork = {
  kind: 'workflow-schedules',
  next: (db, tenantId) => WorkflowSchedules.next(db, tenantId),
  work: async (scope) => {
    for (let count = 0; ;) {
      const started = await startDueSchedules(scope, schedulesMax);
      count += started;
      if (started < schedulesMax) return count;
    }
  },
};

/** In this order where they fall due at one instant. */
export const dueWorks: readonly DueWork[] = [holds, grants, overdueInvoices, workflowSchedules];
