import { Type, type Static } from 'typebox';
import { daysFrom } from '../../kernel/time/date.js';
import { problem } from '../../kernel/problem.js';
import { DateText, optional } from '../fields/field.js';
import { RecordId } from '../http/record-id.js';

/** What a billing run is asked for (spec/flows.md R34). */
export const BillingRunData = Type.Object(
  {
    periodStart: DateText('First day of the period, inclusive.'),
    periodEnd: DateText('Last day of the period, inclusive; usage until then is billed.'),
    accountId: optional(RecordId('account', 'Bill only this account; all due ones when left out.')),
    dryRun: optional(
      Type.Boolean({ description: 'Whether to show what would be billed and write nothing.' }),
    ),
  },
  { additionalProperties: false, description: 'A billing run.' },
);
export type BillingRunData = Static<typeof BillingRunData>;

/** Runs over more days would only be a mistake; daily charges are made one by one. */
const daysMax = 36_600;

/** 400: the period ends before it begins, or is longer than a century. */
export function checkBillingRun({ periodStart, periodEnd }: BillingRunData): void {
  if (periodEnd < periodStart) {
    throw problem.validation(`'periodEnd' must not be before 'periodStart'`, {
      field: 'periodEnd',
      value: periodEnd,
    });
  }
  if (daysFrom(periodStart, periodEnd) > daysMax || periodEnd > '9000-12-31') {
    throw problem.validation(`'periodEnd' is too far away: a run is for at most 100 years`, {
      field: 'periodEnd',
      value: periodEnd,
    });
  }
}

/** The workflow of billing runs, as callers execute it by its name (spec/flows.md R22). */
export const billingRunWorkflow = {
  workflow: 'runBilling',
  name: 'billing-run',
  title: 'Billing Run',
  description:
    'Bills usage and the recurring and one-time charges of contract lines for a period: posts ' +
    'invoices for all due accounts, or for one. What is billed already is not billed again.',
  data: BillingRunData,
  example: { periodStart: '2026-03-01', periodEnd: '2026-03-31', dryRun: true },
} as const;
