import { Type, type Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import { DateText, optional } from '../fields/field.js';

/** What an audit of usage is asked for (docs/decisions/0122). */
export const UsageAuditData = Type.Object(
  {
    periodStart: DateText('First day of the period, inclusive.'),
    periodEnd: DateText('Last day of the period, inclusive; it must be over.'),
    samplePercent: optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'How many of a hundred events are computed again; all when left out.',
      }),
    ),
  },
  { additionalProperties: false, description: 'An audit of rated usage.' },
);
export type UsageAuditData = Static<typeof UsageAuditData>;

/** 400: the period ends before it begins, or is not over. */
export function checkUsageAudit({ periodStart, periodEnd }: UsageAuditData, today: string): void {
  const refuse = (message: string): never => {
    throw problem.validation(message, { field: 'periodEnd', value: periodEnd });
  };
  if (periodEnd < periodStart) {
    refuse(
      `'periodEnd' must not be before 'periodStart': '${periodEnd}' is before '${periodStart}'`,
    );
  }
  if (periodEnd >= today) refuse(`'periodEnd' must be over: '${periodEnd}' is not`);
}

/** The workflow of audits, as callers execute it by its name (spec/flows.md R22). */
export const usageAuditWorkflow = {
  workflow: 'auditUsage',
  name: 'audit-usage',
  title: 'Usage Audit',
  description:
    'Computes the rated transactions of a past period again from what was recorded when they were ' +
    'rated, and compares amounts and counters: every difference is in the output.',
  data: UsageAuditData,
  example: { periodStart: '2026-03-01', periodEnd: '2026-03-31', samplePercent: 10 },
} as const;
