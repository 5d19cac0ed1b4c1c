import type { Knex } from 'knex';
import { dayAfter } from '../../kernel/time/date.js';
import type { Scope } from '../../kernel/scope.js';
import { Invoice } from '../../models/billing/invoice.js';
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

export const dueWorks: readonly DueWork[] = [overdueInvoices];
