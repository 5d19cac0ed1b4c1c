import type { Knex } from 'knex';
import { dayAfter } from '../../kernel/time/date.js';
import type { Scope } from '../../kernel/scope.js';
import { Invoice } from '../../models/billing/invoice.js';
import { nextDueBalance } from '../../models/balances/wallet-balance.js';
import { settleDue } from '../balances/grant.js';
import { releaseDueHolds } from '../balances/hold.js';
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

/** Wallets, and accounts with holds, that are settled at once. */
const balancesMax = 100;

/** Grants that take effect or expire, and holds whose time is over (docs/decisions/0390, 0392). */
const balances: DueWork = {
  kind: 'balances',
  next: nextDueBalance,
  work: async (scope) => {
    for (let count = 0; ;) {
      const wallets = await settleDue(scope, balancesMax);
      const accounts = await releaseDueHolds(scope, balancesMax);
      count += wallets + accounts;
      if (wallets < balancesMax && accounts < balancesMax) return count;
    }
  },
};

export const dueWorks: readonly DueWork[] = [overdueInvoices, balances];
