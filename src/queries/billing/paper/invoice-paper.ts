import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../../../kernel/numbers/money.js';
import { Account } from '../../../models/accounts/account.js';
import type { Invoice } from '../../../models/billing/invoice.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import type { PdfParty } from '../../../messages/pdf-invoice.js';
import type * as schema from '../../../schemas/billing/invoice.js';
import { buyerOf, isPayable, nobody, sellerOf } from './parties.js';

type InvoicePaper = Static<typeof schema.InvoicePaper>;

const ofInvoice = 'item.tenant_id = :tenantId and item.invoice_id = :invoiceId';

const taxesSql = `
  select item.tax_rate as rate, sum(item.amount) as base, sum(item.tax) as tax
  from invoice_item as item
  where ${ofInvoice} and item.tax_rate is not null group by 1 order by 1`;

/** The contract of the invoice, else that of all of its items: two rows, where there are several. */
const contractsSql = `
  select distinct contract.number, contract.po_number as "poNumber"
  from invoice_item as item
  left join contract_service as line
    on line.tenant_id = item.tenant_id and line.id = item.contract_service_id
  left join contract
    on contract.tenant_id = item.tenant_id and contract.id = coalesce(:contractId, line.contract_id)
  where ${ofInvoice} limit 2`;

const partyOf = ({ name, lines }: PdfParty) => ({ name, lines: [...lines] });

/**
 * What the PDF of an invoice says beside its items, as one that is made now says it, of any number of
 * items.
 */
export async function readPaper(
  db: Knex,
  tenantId: string,
  invoice: Invoice,
): Promise<InvoicePaper> {
  const bindings = { tenantId, invoiceId: invoice.id };
  const { seller, payment } = await sellerOf(db, tenantId);
  const account = await Account.query(db)
    .forTenant(tenantId)
    .findById(invoice.accountId)
    .withGraphFetched('addresses');
  const taxes = await sqlRows<{ rate: string; base: string; tax: string }>(db, taxesSql, bindings);
  const [contract, other] = await sqlRows<{ number: string | null; poNumber: string | null }>(
    db,
    contractsSql,
    { ...bindings, contractId: invoice.contractId },
  );
  const { number = null, poNumber = null } = (other ? undefined : contract) ?? {};
  return {
    seller: partyOf(seller),
    buyer: partyOf(account ? buyerOf(account) : nobody),
    contractNumber: number,
    poNumber,
    taxes: taxes.map(({ rate, base, tax }) => ({
      rate: new Decimal(rate),
      base: new Decimal(base),
      tax: new Decimal(tax),
    })),
    payment: isPayable(invoice) ? payment : null,
  };
}
