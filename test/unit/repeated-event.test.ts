import { expect } from 'chai';
import { UsageBatch } from '../../src/commands/usage/usage-batch.js';
import { newId } from '../../src/kernel/id.js';
import { UsageEvent } from '../../src/models/usage/usage-event.js';
import { readMessage, type ReadMessage } from '../../src/queries/usage/usage-message.js';
import type { Outcome, RatedOutcome } from '../../src/queries/usage/usage-rater.js';

/** An event may have a mebibyte, and be repeated a thousand times in one transaction. */
describe('an event that is repeated', () => {
  const at = new Date('2026-03-15T12:00:00Z');
  const rated = { status: 'rated', accountId: newId() } as RatedOutcome;
  const textOf = (content: object): string =>
    JSON.stringify({ externalTransactionId: 'tx', ...content });
  const batchOf = (): UsageBatch => {
    const run = { workflowId: 'test', runId: newId(), at };
    return new UsageBatch(run, at);
  };
  const add = (batch: UsageBatch, message: ReadMessage, outcome: Outcome = rated): void => {
    const place = {
      id: newId(),
      partition: 0,
      offset: 1,
      orgId: null,
      receivedAt: at,
      accountId: null,
    };
    // Another text than all others: what has the same one is not compared any further.
    batch.add({ ...place, text: newId() }, message, () => outcome);
  };

  /** How often each of these texts is parsed meanwhile. */
  const countParses = (texts: readonly string[], work: () => void): number[] => {
    const counts = texts.map(() => 0);
    const { parse } = JSON;
    JSON.parse = (text, reviver) => {
      const index = texts.indexOf(text);
      if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
      return parse(text, reviver) as unknown;
    };
    try {
      work();
    } finally {
      JSON.parse = parse;
    }
    return counts;
  };

  // spec/rating.md R56
  it('is parsed once, and so is what it was sent with, however many repeat it', () => {
    const [sent, text] = [textOf({ note: 'as it was' }), textOf({ note: 'as it is' })];
    const row = { id: newId(), partition: 0, offset: '0', externalTransactionId: 'tx' };
    const batch = batchOf();
    batch.addStored(Object.assign(new UsageEvent(), row, { status: 'rated', text, sent }));
    const repeats = ['as it is', 'as it was', 'else', 'else', 'else'].map((note) =>
      readMessage(JSON.stringify({ note, externalTransactionId: 'tx' })),
    );
    const counts = countParses([text, sent], () => {
      for (const message of repeats) add(batch, message);
    });
    expect(batch.counts()).to.deep.equal({ rated: 0, duplicate: 2, rejected: 3 });
    expect(counts).to.deep.equal([1, 1]);
  });

  const rejected: Outcome = {
    status: 'rejected',
    accountId: null,
    code: 'INTERNAL_ERROR',
    reason: 'A trial.',
  };
  for (const [what, before] of [
    ['of the same batch', []],
    ['that takes the place of a rejected one', [rejected]],
  ] as const) {
    // spec/rating.md R56, R57
    it(`is written once as it is compared, ${what}`, () => {
      const batch = batchOf();
      for (const outcome of before) add(batch, readMessage(textOf({})), outcome);
      let reads = 0;
      const content = {
        externalTransactionId: 'tx',
        get note() {
          reads += 1;
          return 'as it is';
        },
      };
      add(batch, { ...readMessage(textOf({})), content });
      expect(reads).to.equal(0);
      for (const note of ['as it is', 'else', 'else']) add(batch, readMessage(textOf({ note })));
      const duplicate = 1 + before.length;
      expect(batch.counts()).to.deep.equal({ rated: 1, duplicate, rejected: 2 });
      expect(reads).to.equal(1);
    });
  }
});
