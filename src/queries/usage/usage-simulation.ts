import { usageTopic } from '../../messages/usage-log.js';
import { ZERO } from '../../kernel/numbers/money.js';
import { mapInPortions, Portions } from '../../kernel/portions.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { UsageCounter } from '../../models/usage/usage-counter.js';
import { callOperationsMax, explain, type Explained } from '../../rating/index.js';
import {
  chargeOf,
  dimensionOf,
  findAccountNumbers,
  presentRatedTransaction,
  type AccountNumbers,
} from './rated-transaction.js';
import type { UsageEventDto } from './usage-event.js';
import { readContent, type ReadMessage } from './usage-message.js';
import { UsageRater, type Outcome, type RatedOutcome } from './usage-rater.js';

export interface SimulationOptions {
  readonly partitionOf: (key: string) => number;
  readonly onFault: (error: unknown) => void;
}

/** Maximum characters of JSON of all explanations in an answer, and of its charges. */
const explanationsMax = 8 * 1024 * 1024;
const chargeWeightMax = 16 * 1024 * 1024;
/** About what a charge and one of its dimensions are in JSON. */
const chargeWeight = 800;
const dimensionWeight = 400;

/**
 * Rates events without writing anything: with the code of real rating, and counters that are read
 * but not locked. Each event of a call starts from the counters that the previous one left.
 */
export async function simulateUsage(
  scope: Scope,
  bodies: readonly unknown[],
  { partitionOf, onFault }: SimulationOptions,
): Promise<UsageEventDto[]> {
  const { tenantId, db } = scope;
  const messages = await mapInPortions(bodies, (body) => readContent(messageOf(body)));
  const events = messages.flatMap(({ read }) => (read.ok ? [read.event] : []));
  const rater = await UsageRater.open(db.read, tenantId, events, explain, {
    readCounters: (keys) => UsageCounter.read(db.read, tenantId, keys),
    onFault,
  });
  const outcomes = await rateAll(rater, messages);
  const accountIds = outcomes.flatMap((outcome) =>
    outcome.status === 'rated'
      ? outcome.rated.transactions.map(({ billedAccountId }) => billedAccountId)
      : [],
  );
  const numbers = await findAccountNumbers(db.read, tenantId, accountIds);
  return mapInPortions(messages, (message, index) => {
    const outcome = outcomes[index] as Outcome<Explained>;
    const partition = partitionOf(message.accountRef ?? '');
    return presentSimulation(tenantId, partition, message, outcome, numbers);
  });
}

/** 400: the events cost more, or explain more, than one answer may. */
async function rateAll(
  rater: UsageRater<Explained>,
  messages: readonly ReadMessage[],
): Promise<Outcome<Explained>[]> {
  const outcomes: Outcome<Explained>[] = [];
  const portions = new Portions();
  let [explained, charged] = [0, 0];
  for (const [index, { read }] of messages.entries()) {
    if (!rater.takes(read)) {
      throw problem.validation(
        `The events of one simulation may take ${callOperationsMax} operations together: send at most ` +
          `${index} of these at a time.`,
      );
    }
    let outcome = rater.rate(read);
    if (outcome.status === 'rated') {
      explained += JSON.stringify(outcome.rated.explanations).length;
      // Keep the amounts of all events, and drop the explanation of the last one.
      if (explained > explanationsMax) outcome = withoutExplanations(outcome);
      for (const { dimensions } of outcome.rated.transactions)
        charged += chargeWeight + dimensions.length * dimensionWeight;
    }
    if (charged > chargeWeightMax && index > 0) {
      throw problem.validation(
        `The answer would be larger than 16 MiB: send at most ${index} of these events at a time.`,
      );
    }
    outcomes.push(outcome);
    if (portions.isOver) await portions.rest();
  }
  return outcomes;
}

const withoutExplanations = (outcome: RatedOutcome<Explained>): RatedOutcome<Explained> => ({
  ...outcome,
  rated: { ...outcome.rated, explanations: [] },
});

function messageOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined;
}

function presentSimulation(
  tenantId: string,
  partition: number,
  message: ReadMessage,
  outcome: Outcome<Explained>,
  numbers: AccountNumbers,
): UsageEventDto {
  const { accountId, status } = outcome;
  return {
    id: null,
    externalTransactionId: message.externalTransactionId,
    status,
    code: outcome.status === 'rejected' ? outcome.code : null,
    reason: outcome.status === 'rejected' ? outcome.reason : null,
    topic: usageTopic(tenantId),
    partition,
    offset: null,
    morgId: null,
    billingAccountRef: message.accountRef,
    accountId,
    serviceId: message.serviceId,
    eventTimestamp: message.eventAt,
    receivedAt: null,
    processedAt: null,
    workflowId: null,
    runId: null,
    originalId: null,
    messageNote: null,
    message: message.content ?? null,
    ratedTransactions: outcome.status === 'rated' ? presentCharges(outcome, numbers) : [],
  };
}

function presentCharges(
  { prepared, rated }: RatedOutcome<Explained>,
  numbers: AccountNumbers,
): UsageEventDto['ratedTransactions'] {
  return rated.transactions.map((charge, index) => {
    const transaction = {
      ...chargeOf(prepared, charge),
      id: null,
      discount: charge.discount,
      taxAmount: ZERO,
      billed: false,
      ratedAt: null,
      reverses: null,
      correctionId: null,
      dimensions: charge.dimensions.map((dimension, position) => ({
        ...dimensionOf(dimension),
        transactionId: null,
        position,
      })),
    };
    return {
      ...presentRatedTransaction(transaction, numbers),
      explanation: rated.explanations[index] ?? null,
      correction: null,
      matches: true,
    };
  });
}
