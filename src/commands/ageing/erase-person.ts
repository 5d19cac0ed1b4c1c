import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import {
  closeErasure,
  eraseRecords,
  insertErasure,
  readPersonStates,
  type ErasedPortion,
  type SoughtTexts,
} from '../../models/ageing/erasure.js';
import type { ErasurePlace } from '../../messages/ageing/erasure.js';
import { eraseRows } from '../../models/ageing/erased-rows.js';
import { findLegalHold, takeAgeingLock } from '../../models/access/legal-hold.js';
import { Account } from '../../models/accounts/account.js';
import { Invoice } from '../../models/billing/invoice.js';
import { findUnkeptPaper } from '../../queries/ageing/invoice-papers.js';

/** Rows of one transaction. */
const portion = 500;

async function refuseUnderHold(trx: Knex.Transaction, tenantId: string): Promise<void> {
  await takeAgeingLock(trx, tenantId);
  const hold = await findLegalHold(trx, tenantId);
  if (!hold) return;
  throw problem.conflict('Nothing can be erased: the tenant is under a legal hold.');
}

/** 409: the account is active, owes or is owed something, or an invoice has no PDF yet. */
async function checkErasable(
  trx: Knex.Transaction,
  tenantId: string,
  accountId: string,
): Promise<void> {
  const account = await Account.query(trx).forTenant(tenantId).findById(accountId).forUpdate();
  if (!account) throw problem.notFound(`There is no account '${accountId}'.`);
  const field = { field: 'accountId', value: accountId };
  if (account.status === 'Active' && account.deletedAt === null) {
    throw problem.conflict('The account is active: deactivate it first.', field);
  }
  const open = await Invoice.query(trx)
    .forTenant(tenantId)
    .where({ accountId })
    .whereNot('balance', 0)
    .first();
  if (open) {
    throw problem.conflict(`Invoice ${open.invoiceNo} is open: settle or void it first.`, field);
  }
  const unkept = await findUnkeptPaper(trx, tenantId, accountId);
  if (unkept === undefined) return;
  throw problem.conflict(`Invoice ${unkept} was made meanwhile: erase again.`, field);
}

/** Personal fields of an account's row; all are texts. */
const accountFields = ['name', 'external_id', 'gst', 'pan', 'cin'];
const profileFields = [
  'firstName',
  'lastName',
  'description',
  'organization',
  'email',
  'phone',
  'mobile',
  'website',
  'billingEmail',
  'purchaseOrder',
];
const addressFields = ['line1', 'line2', 'city', 'state', 'zip_code', 'tax_id'];
/** Fields that belong to one person alone. */
const markFields = ['external_id', 'gst', 'pan', 'cin', 'email', 'billingEmail', 'phone', 'mobile'];

const partLengthMin = 4;
const markLengthMin = 6;

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** Whether a text of a contact or payment profile says who somebody is: an address, a number, a name. */
const isTelling = (text: string): boolean =>
  text.length >= markLengthMin && /@|\d{4}|\S\s+\S/.test(text);

const small = (texts: Iterable<string>): string[] => [
  ...new Set([...texts].map((text) => text.toLowerCase())),
];

/**
 * What to look for (docs/decisions/0353). Of short texts only equal ones go: a city `Ulm` or a first
 * name `Ana` is a part of too many words.
 */
export function soughtTexts(
  accountId: string,
  states: readonly { readonly entity: string; readonly state: Readonly<Record<string, unknown>> }[],
): SoughtTexts {
  const wholes = new Set<string>();
  const parts = new Set<string>();
  const marks = new Set<string>([accountId]);
  const add = (name: string, value: unknown): void => {
    if (typeof value !== 'string' || value === '' || isErased(value)) return;
    wholes.add(value);
    if (value.length >= partLengthMin) parts.add(value);
    if (!markFields.includes(name)) return;
    // A short one as a whole text of JSON, a long one wherever it stands.
    marks.add(value.length < markLengthMin ? JSON.stringify(value) : value);
  };
  for (const { entity, state } of states) {
    const profile = (state['profile'] ?? {}) as Readonly<Record<string, unknown>>;
    const of = entity === 'address' ? addressFields : accountFields;
    for (const name of of) add(name, state[name]);
    for (const name of profileFields) add(name, profile[name]);
    for (const list of ['contact_info_list', 'account_payment_profile_list']) {
      for (const text of textsIn(state[list]).filter((each) => !isErased(each))) {
        wholes.add(text);
        if (isTelling(text)) parts.add(text);
        if (isTelling(text) && /@|\d{6}/.test(text)) marks.add(text);
      }
    }
  }
  return { marks: small(marks), wholes: small(wholes), parts: small(parts) };
}

const isErased = (text: string): boolean => text === '[erased]' || text.startsWith('erased-');

/**
 * Begins to erase the person of an account in the transaction of a step: what the records themselves
 * have of it goes at once. 404: there is no such account. 409: a legal hold, or `checkErasable`.
 */
export async function beginErasure(
  { tenantId, db }: Scope,
  { accountId, executionId }: { readonly accountId: string; readonly executionId: string },
): Promise<{ readonly accountId: string }> {
  return db.transaction(async (trx) => {
    await refuseUnderHold(trx, tenantId);
    await checkErasable(trx, tenantId, accountId);
    const sought = soughtTexts(accountId, await readPersonStates(trx, tenantId, accountId));
    await insertErasure(trx, tenantId, { id: executionId, accountId, ...sought });
    await eraseRecords(trx, tenantId, executionId);
    return { accountId };
  });
}

/** Erases what a portion of a table tells of the person. 409: a legal hold. */
export async function eraseTraces(
  { tenantId, db }: Scope,
  { executionId, place }: { readonly executionId: string; readonly place: ErasurePlace },
): Promise<ErasedPortion> {
  return db.transaction(async (trx) => {
    await refuseUnderHold(trx, tenantId);
    return eraseRows(trx, tenantId, { id: executionId, place, limit: portion });
  });
}

/** Ends an erasure: what was looked for is forgotten. */
export async function endErasure({ tenantId, db }: Scope, executionId: string): Promise<void> {
  await db.transaction((trx) => closeErasure(trx, tenantId, executionId));
}
