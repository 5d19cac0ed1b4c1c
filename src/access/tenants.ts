import type { Knex } from 'knex';
import type { PdfParty } from '../messages/pdf-invoice.js';
import { problem } from '../kernel/problem.js';

export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly plan: 'standard' | 'premium' | 'enterprise';
  /** Requests a minute of an enterprise plan; null on the others. */
  readonly requestLimit: number | null;
  readonly createdAt: Date;
  /** Since when its credentials are refused; null: they are not. */
  readonly suspendedAt: Date | null;
}

const idForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Creates the tenant unless it exists; returns whether it was created. */
export async function ensureTenant(db: Knex, id: string, name: string = id): Promise<boolean> {
  if (!idForm.test(id)) {
    throw problem.validation(
      `'${id}' is no tenant id: use 1 to 64 letters, digits, '.', '_' or '-', first a letter or digit.`,
    );
  }
  // The login of running processes can read tenants, but not create any.
  if (await db('tenant').where({ id }).first('id')) return false;
  const rows = (await db('tenant')
    .insert({ id, name })
    .onConflict('id')
    .ignore()
    .returning('id')) as unknown[];
  return rows.length > 0;
}

/** 404: there is no such tenant; the message names it and says how it is made. */
export async function requireTenant(db: Knex, id: string): Promise<void> {
  if (await db('tenant').where({ id }).first('id')) return;
  throw problem.notFound(
    `There is no tenant '${id}': 'durabill tenant list' shows them, 'durabill tenant create' makes one.`,
  );
}

/** The tenant of an id; undefined when there is none. */
export const findTenant = (db: Knex, id: string): Promise<Tenant | undefined> =>
  db<Tenant>('tenant').where({ id }).first();

export async function listTenants(db: Knex): Promise<Tenant[]> {
  return db<Tenant>('tenant').orderBy('id');
}

/** Sets the plan that rate limits follow; false when there is no such tenant. */
export async function setTenantPlan(
  db: Knex,
  id: string,
  plan: Tenant['plan'],
  requestLimit: number | null,
): Promise<boolean> {
  return (await db('tenant').where({ id }).update({ plan, requestLimit })) > 0;
}

/**
 * Suspends a tenant: all its credentials are refused, and its webhooks wait. Nothing is deleted. False
 * when there is no such tenant, or it is suspended.
 */
export const suspendTenant = async (db: Knex, id: string, suspendedAt: Date): Promise<boolean> =>
  (await db('tenant').where({ id }).whereNull('suspendedAt').update({ suspendedAt })) > 0;

export async function isTenantSuspended(db: Knex, id: string): Promise<boolean> {
  return (await db('tenant').where({ id }).whereNotNull('suspendedAt').first('id')) !== undefined;
}

/** Ends a suspension; false when there is none. */
export const resumeTenant = async (db: Knex, id: string): Promise<boolean> =>
  (await db('tenant').where({ id }).whereNotNull('suspendedAt').update({ suspendedAt: null })) > 0;

/** The seller's data on a tenant's invoices (docs/decisions/0121). */
export interface Seller extends Omit<PdfParty, 'lines'> {
  /** What its invoices say about how to pay, beside the account. */
  readonly paymentText: string | null;
  readonly iban: string | null;
  readonly bic: string | null;
  /** Whether its invoices list the usage of each day. */
  readonly usageAppendix: boolean;
}

export async function getSeller(db: Knex, tenantId: string): Promise<Seller | undefined> {
  return db('seller')
    .where({ tenantId })
    .first<Seller | undefined>(
      'name',
      'street',
      'street2',
      'zipCode',
      'city',
      'country',
      'vatId',
      'registration',
      'paymentText',
      'iban',
      'bic',
      'usageAppendix',
    );
}

/** The prefix of VAT identifiers is the country's code, but for Greece. */
const isVatIdOf = (country: string, vatId: string): boolean =>
  vatId.startsWith(country) || (country === 'GR' && vatId.startsWith('EL'));

const trimmed = (changes: Partial<Seller>): Partial<Seller> =>
  Object.fromEntries(
    Object.entries(changes).map(([name, value]: [string, unknown]) => {
      if (typeof value !== 'string') return [name, value];
      return [name, value.trim() === '' ? null : value.trim()];
    }),
  );

/** ISO 13616: letters count from 10, the first four signs stand last, and 97 leaves 1. */
function isIban(iban: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban)) return false;
  const digits = [...iban.slice(4), ...iban.slice(0, 4)].map((sign) => parseInt(sign, 36)).join('');
  return BigInt(digits) % 97n === 1n;
}

/**
 * Sets who a tenant is on its invoices; what is left out stays as it is, what is blank is taken away.
 * 400: the IBAN has a typing error, the VAT identifier is of another country, or the name is taken away. 404: there is no such
 * tenant.
 */
export async function setSeller(
  db: Knex,
  tenantId: string,
  changes: Partial<Seller>,
): Promise<void> {
  await requireTenant(db, tenantId);
  const tenant = await db<Tenant>('tenant').where({ id: tenantId }).first('name');
  const seller = {
    name: tenant?.name ?? null,
    ...(await getSeller(db, tenantId)),
    ...trimmed(changes),
  };
  const iban = seller.iban?.replace(/\s/g, '').toUpperCase() ?? null;
  const { name, country, vatId } = seller;
  if (iban !== null && !isIban(iban)) {
    throw problem.validation(`'${iban}' is no IBAN: its check digits do not fit.`);
  }
  if (!name) throw problem.validation('A seller needs a name.');
  if (vatId && !isVatIdOf(country ?? '?', vatId)) {
    throw problem.validation(`The VAT identifier '${vatId}' does not begin with its country.`);
  }
  await db('seller')
    .insert({ ...seller, iban, tenantId, updatedAt: new Date() })
    .onConflict('tenant_id')
    .merge();
}
