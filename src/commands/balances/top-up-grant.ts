import type { Knex } from 'knex';
import { Decimal } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { WalletGrant } from '../../models/balances/wallet-grant.js';
import type { Payment } from '../../models/payments/payment.js';
import { Wallet } from '../../models/payments/wallet.js';
import { enterGrant } from './grant.js';

/**
 * What a top-up has paid becomes a purchased grant once it is completed and approved, and pays no invoice
 * (spec/beyond.md R279). Undefined of other payments; else whether the money is in the wallet.
 */
export async function grantTopUp(
  trx: Knex.Transaction,
  scope: Scope,
  payment: Payment,
): Promise<boolean | undefined> {
  const { tenantId } = scope;
  const { topUpWalletId, paymentStatus, approvalStatus, paymentReference } = payment;
  if (topUpWalletId === null) return undefined;
  const isPaid = paymentStatus === 'Completed' && approvalStatus === 'Approved';
  const wallet = await Wallet.query(trx)
    .forTenant(tenantId)
    .existing()
    .findById(topUpWalletId)
    .forNoKeyUpdate();
  const known = await WalletGrant.query(trx)
    .forTenant(tenantId)
    .findOne({ walletId: topUpWalletId, paymentId: payment.id });
  if (known) return true;
  if (!isPaid || !wallet) return false;
  // The reference of a payment can be changed to that of a grant that there is already.
  const taken = await WalletGrant.query(trx)
    .forTenant(tenantId)
    .findOne({ walletId: topUpWalletId, externalId: paymentReference });
  await enterGrant(trx, scope, wallet, {
    externalId: taken ? `top-up-${payment.id}` : paymentReference,
    amount: new Decimal(payment.amount),
    kind: 'purchased',
    paymentId: payment.id,
  });
  return true;
}
