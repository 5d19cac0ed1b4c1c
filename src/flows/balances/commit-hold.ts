import { setTimeout as wait } from 'node:timers/promises';
import type { Static } from 'typebox';
import {
  beginCommit,
  finishCommit,
  requireCommittable,
} from '../../commands/balances/holds/commit-hold.js';
import { contentId } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { canonicalJson } from '../../kernel/text/json.js';
import { partitionOf } from '../../messages/usage/log-partition.js';
import type { WalletHold } from '../../models/balances/wallet-hold.js';
import { publishUsage } from '../../platform/publish-usage.js';
import type { Platform } from '../../process/platform.js';
import { findHold, sumDraws } from '../../queries/balances/hold.js';
import { findUsageEvent, getUsageEvent } from '../../queries/usage/usage-event.js';
import { readContent } from '../../queries/usage/usage-message.js';
import { simulateUsage } from '../../queries/usage/usage-simulation.js';
import type * as schema from '../../schemas/balances/hold.js';

type CommittedHoldDto = Static<typeof schema.CommittedHold>;
type Message = Readonly<Record<string, unknown>>;

/** Between looks for the event: it is rated within milliseconds where nothing else waits. */
const looksMs = [2, 3, 5, 10, 20, 50, 100];

/**
 * Publishes and rates the event that money is held for, and waits for its charge (spec/beyond.md R271,
 * R272). Each step may be done again: the hold waits for this one event, whose external id makes it one
 * event however often it is published. 400: it cannot be rated. 404: there is no such hold. 409: the hold
 * has ended, or the event was rated before. 504: it is not rated yet; the same request asks again.
 */
export async function commitHold(
  scope: Scope,
  platform: Platform,
  id: string,
  message: Message,
): Promise<CommittedHoldDto> {
  const hold = await findHold(scope, id);
  const messageId = contentId(canonicalJson(message));
  requireCommittable(hold, messageId, scope.now());
  const externalId = readContent(message).externalTransactionId ?? '';
  if (hold.status === 'open') await requireRateable(scope, platform, hold, message);
  if (await beginCommit(scope, id, { externalId, messageId })) {
    const published = await publishUsage(platform.broker, scope, { key: externalId, message });
    await waitForEvent(scope, platform, id, externalId, published);
  }
  return presentCommitted(scope, platform, hold, externalId);
}

/** 400: rating would reject the event, or charge others. */
async function requireRateable(
  scope: Scope,
  { log }: Platform,
  hold: WalletHold,
  message: Message,
): Promise<void> {
  const [simulated] = await simulateUsage(scope, [{ message }], {
    partitionOf,
    onFault: (error) => log.error({ err: error }, 'simulation met an error of ours'),
  });
  if (simulated?.status !== 'rated') {
    throw problem.validation(`The event cannot be rated: ${simulated?.reason ?? ''}`, {
      field: 'message',
      code: simulated?.code,
    });
  }
  const isOfHold = simulated.ratedTransactions.some((charge) => isChargeOf(hold, charge));
  if (!isOfHold) {
    const charged = simulated.ratedTransactions.map(
      ({ accountId, currency }) => `'${accountId}' in ${currency}`,
    );
    throw problem.validation(
      `The event would charge ${charged.join(', ')}, and not '${hold.accountId}' in ${hold.currency}, of which the hold is`,
      { field: 'message', value: message['billingAccountRef'] },
    );
  }
}

/** Waits until the event is rated. A hold whose event was not rated is open again. */
async function waitForEvent(
  scope: Scope,
  { config }: Platform,
  id: string,
  externalId: string,
  { partition, offset }: { readonly partition: number; readonly offset: number },
): Promise<void> {
  const until = Date.now() + config.flowTimeoutMs;
  for (let look = 0; ; look += 1) {
    const event = await findUsageEvent(scope, externalId);
    // Published again by a request that was repeated, it is a duplicate of itself.
    if (event?.status === 'rated') return;
    const isOwn = event?.partition === partition && Number(event.offset) === offset;
    if (event?.status === 'rejected' && isOwn) {
      await finishCommit(scope, id, false);
      throw problem.validation(`The event cannot be rated: ${event.reason ?? ''}`, {
        field: 'message',
        code: event.code,
      });
    }
    if (Date.now() > until) {
      throw problem.timeout('The event is not rated yet: send the same request again.');
    }
    await wait(looksMs[look] ?? looksMs.at(-1));
  }
}

const isChargeOf = (
  hold: Pick<WalletHold, 'accountId' | 'currency'>,
  charge: { readonly accountId: string; readonly currency: string },
): boolean => charge.accountId === hold.accountId && charge.currency === hold.currency;

/** 409: what was rated under the id of the event does not charge the account, and the hold stays. */
async function presentCommitted(
  scope: Scope,
  { broker, changes }: Platform,
  of: WalletHold,
  externalId: string,
): Promise<CommittedHoldDto> {
  const { id } = of;
  const event = await getUsageEvent(scope, { broker }, externalId);
  const own = event.ratedTransactions.filter((charge) => isChargeOf(of, charge));
  const hold = await finishCommit(scope, id, own.length > 0);
  // Where rating had nothing to draw, the hold has ended only now.
  changes.notify(scope.tenantId, { usage: true, executions: [] });
  const charges = [...own, ...event.ratedTransactions.filter((one) => !own.includes(one))];
  const [charge] = own;
  if (!charge?.id) {
    throw problem.conflict(
      `The usage event '${externalId}' has no charge of the account and currency of the hold.`,
      { field: 'message.externalTransactionId' },
    );
  }
  const { fromHold, fromBalance } = await sumDraws(scope, charge.id, id);
  return {
    holdId: id,
    status: hold.status,
    accountId: hold.accountId,
    currency: hold.currency,
    amount: charge.amount,
    available: hold.available,
    usageEventId: event.id ?? '',
    charge,
    charges,
    drawnFromHold: fromHold,
    drawnFromBalance: fromBalance,
    billed: charge.amount.minus(fromHold).minus(fromBalance),
    released: hold.amount.minus(fromHold),
  };
}
