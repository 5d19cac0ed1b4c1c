import { addDays } from './date.js';

/** When an invoice is due: so many days after its date as the net term says; at once without one. */
export function dueDateOf(invoiceDate: string, netTerm: string | null): string {
  const days = /^Net (\d+)$/.exec(netTerm ?? '')?.[1];
  return days === undefined ? invoiceDate : addDays(invoiceDate, Number(days));
}

/** How an invoice stands against its due date, whatever of it is paid. */
type DueStatus = 'Not Due' | 'Overdue' | 'Settled';

/** What of an invoice says whether it is overdue; the balance is decimal text or a decimal. */
interface Due {
  readonly balance: string | { toString(): string };
  readonly dueDate: string | null;
}

/**
 * Overdue is what is open on the day after its due date; nothing is open of a paid or void invoice, and
 * nobody owes what is below zero.
 */
export function dueStatusOf({ balance, dueDate }: Due, today: string): DueStatus {
  const open = Number(balance.toString());
  if (open === 0) return 'Settled';
  return open > 0 && dueDate !== null && dueDate < today ? 'Overdue' : 'Not Due';
}
