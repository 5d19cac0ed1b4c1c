import type { Knex } from 'knex';
import { newId } from '../../kernel/id.js';
import { Decimal } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { WalletBalance } from '../../models/balances/wallet-balance.js';
import { Payment } from '../../models/payments/payment.js';
import { Wallet } from '../../models/payments/wallet.js';
import { presentPayment } from '../../queries/payments/payment.js';
import { recordWebhookEvent } from '../webhooks/webhook-event.js';
import type { MovedWallet } from './trigger-alerts.js';

/**
 * Saves a Pending payment for each wallet whose balance has fallen below its threshold, once until it has
 * risen again (spec/beyond.md R279): in the transaction that moves the balance, which has the wallet.
 */
export async function topUpWallets(
  trx: Knex.Transaction,
  scope: Pick<Scope, 'tenantId' | 'now'>,
  moved: readonly MovedWallet[],
): Promise<void> {
  const { tenantId } = scope;
  if (moved.length === 0) return;
  const wallets = await Wallet.query(trx)
    .forTenant(tenantId)
    .existing()
    .where({ enableDisableTopUp: true, isActive: true })
    .where('autoTopUpAmount', '>', 0)
    .whereNotNull('currency')
    .whereRaw('wallet.id = any(?::uuid[])', [moved.map(({ walletId }) => walletId)])
    .orderBy('id');
  if (wallets.length === 0) return;
  const after = new Map(moved.map((wallet) => [wallet.walletId, wallet.after]));
  for (const wallet of wallets) {
    const balance = after.get(wallet.id);
    if (balance === undefined) continue;
    const isBelow = balance.lessThan(wallet.thresholdTopUpAmount);
    const known = WalletBalance.query(trx).forTenant(tenantId).where({ walletId: wallet.id });
    const changed = await known.where({ isToppedUp: !isBelow }).patch({ isToppedUp: isBelow });
    if (isBelow && changed > 0) await savePayment(trx, scope, wallet);
  }
}

async function savePayment(
  trx: Knex.Transaction,
  scope: Pick<Scope, 'tenantId' | 'now'>,
  { id, title, accountId, currency, autoTopUpAmount }: Wallet,
): Promise<void> {
  const paymentId = newId();
  const amount = new Decimal(autoTopUpAmount).toFixed();
  const payment = await Payment.query(trx)
    .forTenant(scope.tenantId)
    .insert({
      id: paymentId,
      accountId,
      currency: currency ?? '',
      amount,
      balance: amount,
      paymentReference: `top-up-${paymentId}`,
      paymentMethod: 'Other',
      paymentType: 'Pay In',
      paymentDate: utcDate(scope.now()),
      paymentStatus: 'Pending',
      comments: `Top-up of the wallet '${title}'`,
      topUpWalletId: id,
    })
    .returning('*');
  await recordWebhookEvent(trx, scope, {
    event: 'payment.saved',
    recordId: paymentId,
    data: presentPayment(payment),
  });
}
