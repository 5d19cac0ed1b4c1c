import { Type, type Static } from 'typebox';
import { RecordId } from '../http/record-id.js';

/** Whom an erasure is about (docs/decisions/0353). */
export const ErasureData = Type.Object(
  { accountId: RecordId('account', 'The account whose person is erased; it must be inactive.') },
  { additionalProperties: false, description: 'An erasure.' },
);
export type ErasureData = Static<typeof ErasureData>;

/** The workflow of erasures, as callers execute it by its name (spec/platform.md R104). */
export const erasureWorkflow = {
  workflow: 'erasePerson',
  name: 'erase-person',
  title: 'Erasure of a Person',
  description:
    'Erases the person of an inactive account for good, in records, messages, executions, webhooks ' +
    'and the audit, and keeps the books: charges, payments and invoices with their PDFs. The role ' +
    'ADMIN is required. 409 under a legal hold.',
  data: ErasureData,
  example: { accountId: '01939c6e-7a00-7000-8000-000000000001' },
} as const;
