import type { Knex } from 'knex';
import { compareReduction } from '../billing/reducing-items.js';
import { WalletEntry } from '../../models/balances/wallet-entry.js';
import type { ExplainedCredit, Explanation } from '../../rating/index.js';

/** The charge type of the items of an invoice that say what grants have paid. */
export const creditsType = 'Credits';

/** What grants have paid of charges, by the id of the charge. */
export async function findCredits(
  db: Knex,
  tenantId: string,
  chargeIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ExplainedCredit[]>> {
  const found = new Map<string, ExplainedCredit[]>();
  if (chargeIds.length === 0) return found;
  for (const { chargeId, ...credit } of await WalletEntry.credits(db, tenantId, chargeIds)) {
    const known = found.get(chargeId);
    if (known) known.push(credit);
    else found.set(chargeId, [credit]);
  }
  return found;
}

/** The explanation with the grants that paid the charge. */
export const withCredits = (
  explanation: Explanation | null,
  credits: readonly ExplainedCredit[] | undefined,
): Explanation | null =>
  explanation && credits && credits.length > 0 ? { ...explanation, credits } : explanation;

const creditsSql = `coalesce((
       select sum(entry.amount) from (
         select distinct unnest(transaction_ids) as id from invoice_usage
         where tenant_id = :tenantId and invoice_id = :invoiceId
       ) as own join wallet_entry as entry
         on entry.tenant_id = :tenantId and entry.charge_id = own.id
     ), 0) + coalesce((
       select sum(entry.amount) from recurring_charge as own join wallet_entry as entry
         on entry.tenant_id = own.tenant_id and entry.charge_id = own.id and entry.kind = 'draw'
       where own.tenant_id = :tenantId and own.invoice_id = :invoiceId
     ), 0) + coalesce((
       select sum(entry.amount) from adjustment_charge as own join wallet_entry as entry
         on entry.tenant_id = own.tenant_id and entry.charge_id = own.id and entry.kind = 'draw'
       where own.tenant_id = :tenantId and own.invoice_id = :invoiceId and own.amount > 0
         and not exists (
           -- What a void takes back of what the charge gave back.
           select from wallet_entry as returned where returned.tenant_id = :tenantId
             and returned.charge_id = own.id and returned.wallet_id = entry.wallet_id
             and returned.kind = 'return' and returned.number < entry.number
         )
     ), 0) + coalesce((
       select sum(uncredited) from adjustment_charge
       where tenant_id = :tenantId and invoice_id = :invoiceId
     ), 0) - coalesce((
       select sum(credited) from billed_difference
       where tenant_id = :tenantId and invoice_id = :invoiceId and is_credited
     ), 0)`;

/**
 * Whether the items of an invoice that say what grants have paid come to what the ledger says of its
 * charges. What a void has given back of recurring charges was paid when they were billed.
 */
export const compareCredits = (
  db: Knex,
  tenantId: string,
  invoiceId: string,
  items: readonly { readonly chargeType: string }[],
): Promise<boolean> =>
  compareReduction(db, { tenantId, invoiceId, chargeType: creditsType }, items, creditsSql);
