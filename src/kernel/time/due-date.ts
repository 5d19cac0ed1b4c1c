import { addDays } from './date.js';

/** When an invoice is due: so many days after its date as the net term says; at once without one. */
export function dueDateOf(invoiceDate: string, netTerm: string | null): string {
  const days = /^Net (\d+)$/.exec(netTerm ?? '')?.[1];
  return days === undefined ? invoiceDate : addDays(invoiceDate, Number(days));
}

/** The status of an invoice relative to its due date. */
type DueStatus = 'Not Due' | 'Overdue' | 'Settled';

/**
 * The fields that decide whether an invoice is overdue; the balance is decimal text or a decimal.
 */
interface Due {
  readonly balance: string | { toString(): string };
  readonly dueDate: string | null;
}

/**
 * An open invoice is overdue from the day after its due date. Paid and void invoices, and those
 * with a balance below zero, have nothing open.
 */
export function dueStatusOf({ balance, dueDate }: Due, today: string): DueStatus {
  const open = Number(balance.toString());
  if (open === 0) return 'Settled';
  return open > 0 && dueDate !== null && dueDate < today ? 'Overdue' : 'Not Due';
}
