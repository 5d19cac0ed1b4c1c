import type { Knex } from 'knex';
import { Decimal } from '../../../kernel/numbers/money.js';
import { referenceData } from '../../../kernel/reference-data.js';
import type { PdfParty, PdfPayment } from '../../../messages/pdf-invoice.js';
import { tenantNameSql } from '../../../models/access/tenant.js';
import type { Account } from '../../../models/accounts/account.js';
import type { Invoice } from '../../../models/billing/invoice.js';
import { sqlRows } from '../../../models/db/sql-rows.js';

/** Whether somebody is to pay it, so that it says how. */
export const isPayable = ({ voidedAt, invoiceType, balance }: Invoice): boolean =>
  voidedAt === null && invoiceType === 'Invoice' && new Decimal(balance).greaterThan(0);

type SellerRow = Omit<PdfParty, 'lines'> & PdfPayment & { readonly hasUsage: boolean };

/** The seller's data and settings for a tenant's invoices. */
interface PdfSeller {
  readonly seller: PdfParty;
  readonly payment: PdfPayment | null;
  readonly hasUsage: boolean;
}

/** Who sends the invoices of a tenant. */
export async function sellerOf(db: Knex, tenantId: string): Promise<PdfSeller> {
  const rows = await sqlRows<SellerRow>(
    db,
    `select coalesce(seller.name, ${tenantNameSql('given.id')}, given.id) as "name", street, street2, zip_code as "zipCode",
       city, country, vat_id as "vatId", registration, payment_text as "text", iban, bic,
       coalesce(usage_appendix, false) as "hasUsage"
     from (select ?::text as id) as given left join seller on seller.tenant_id = given.id`,
    [tenantId],
  );
  const [row] = rows;
  const { text = null, iban = null, bic = null, hasUsage = false, ...known } = row ?? {};
  const party = { ...noAddress, name: tenantId, ...known };
  const { street, street2, zipCode, city, country, vatId, registration } = party;
  const lines = shown([
    street,
    street2,
    joined(zipCode, city),
    countryName(country),
    labelled('VAT', vatId),
    registration,
  ]);
  const payment = text === null && iban === null ? null : { text, iban, bic };
  return { seller: { ...party, lines }, payment, hasUsage };
}

const noAddress = {
  street: null,
  street2: null,
  zipCode: null,
  city: null,
  country: null,
  vatId: null,
  registration: null,
};
/** An account that is not there any more. */
export const nobody: PdfParty = { ...noAddress, name: '', lines: [] };
const countryName = (code: string | null): string | null =>
  code === null ? null : (referenceData.country(code)?.name ?? code);
const joined = (...parts: readonly (string | null | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== null).join(' ');
const labelled = (label: string, value: string | null | undefined): string =>
  value === null || value === undefined ? '' : `${label} ${value}`;
export const shown = (lines: readonly (string | null | undefined)[]): string[] =>
  lines.filter((line) => line !== undefined && line !== null && line !== '') as string[];

/** Name, address and tax numbers, as a letter has them. */
export function buyerOf({ name, number, gst, pan, cin, addresses = [] }: Account): PdfParty {
  const [address] = addresses;
  const place = joined(address?.zipCode, address?.city, address?.state);
  const country = referenceData.country(address?.country ?? '')?.alpha2Code ?? null;
  const taxId = address?.taxId ?? null;
  return {
    name,
    lines: shown([
      address?.line1,
      address?.line2,
      place,
      address?.country,
      labelled('Tax id', taxId),
      labelled('GST', gst),
      labelled('PAN', pan),
      labelled('CIN', cin),
      labelled('Account', number),
    ]),
    street: address?.line1 ?? null,
    street2: address?.line2 ?? null,
    country,
    zipCode: address?.zipCode ?? null,
    city: address?.city ?? null,
    registration: null,
    // Tax ids of other kinds than of VAT do not begin with the country.
    vatId: country !== null && taxId?.startsWith(country) === true ? taxId : null,
  };
}
