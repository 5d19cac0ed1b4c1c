import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import type { WaitingPartition } from '../../src/messages/broker.js';
import type { UsageRange } from '../../src/messages/usage-workflow.js';
import type { Platform } from '../../src/process/platform.js';
import { UsageConsumer } from '../../src/worker/usage-consumer.js';

/** A consumer whose log and workflows are here; a range is rated when it is told so. */
async function openConsumer(waiting: WaitingPartition[], answering = () => Promise.resolve()) {
  const started: { readonly range: UsageRange; readonly at: number }[] = [];
  let publish = (): void => undefined;
  const start = (
    _type: string,
    { args, workflowId }: { args: [UsageRange]; workflowId: string },
  ) => {
    started.push({ range: args[0], at: performance.now() });
    return Promise.resolve({ workflowId });
  };
  const platform = {
    config: {},
    shares: { isLateForOthersThan: () => false },
    metrics: { showWaiting: () => undefined, usageResting: { set: () => undefined } },
    broker: {
      openIntake: (onPublished: () => void) => {
        publish = onPublished;
        return Promise.resolve({
          waiting: async () => {
            const found = [...waiting];
            await answering();
            return found;
          },
          close: () => Promise.resolve(),
        });
      },
    },
    temporal: {
      signer: { sign: () => '' },
      starter: { workflow: { start } },
      waiter: { workflow: { getHandle: () => ({ result: () => new Promise(() => undefined) }) } },
      onStarted: () => undefined,
    },
  } as unknown as Platform;
  const consumer = await UsageConsumer.open(platform);
  const untilStarted = async (count: number) => {
    while (started.length < count) await wait(1);
    return started[count - 1];
  };
  return { consumer, publish, untilStarted, started };
}

describe('the consumer of usage', () => {
  it('looks for more at once when a range has ended, however many slots others have', async () => {
    const of = (tenantId: string, partition: number) => ({
      tenantId,
      partition,
      offset: 0,
      end: 1,
    });
    const waiting = [0, 1, 2, 3].map((partition) => of('busy', partition));
    const { consumer, publish, untilStarted } = await openConsumer(waiting);
    await untilStarted(4);
    waiting.push(of('other', 0));
    publish();
    const first = await untilStarted(5);
    waiting.splice(4, 1, { ...of('other', 0), offset: 1, end: 2 });
    consumer.onRated({ tenantId: 'other', partition: 0, firstOffset: 0, endOffset: 1 });
    const second = await untilStarted(6);
    expect(second?.range).to.include({ tenantId: 'other', firstOffset: 1 });
    // A search that is delayed because all slots are taken comes 100 ms after the one before.
    expect((second?.at ?? 0) - (first?.at ?? 0)).to.be.below(80);
    for (const { partition } of waiting.slice(0, 4)) {
      consumer.onRated({ tenantId: 'busy', partition, firstOffset: 0, endOffset: 1 });
    }
    consumer.onRated({ tenantId: 'other', partition: 0, firstOffset: 1, endOffset: 2 });
    await consumer.drain();
  });

  it('starts no range again that has ended while it looked', async () => {
    const first = { tenantId: 'one', partition: 0, offset: 0, end: 1 };
    const waiting = [first];
    let answer: (() => void) | undefined;
    let isHeld = false;
    const { consumer, publish, untilStarted, started } = await openConsumer(waiting, () =>
      isHeld ? new Promise<void>((resolve) => (answer = resolve)) : Promise.resolve(),
    );
    await untilStarted(1);
    // It looks, and finds the range that is being rated with what was published behind it.
    waiting.splice(0, 1, { ...first, end: 2 });
    isHeld = true;
    publish();
    while (answer === undefined) await wait(1);
    isHeld = false;
    waiting.splice(0, 1, { ...first, offset: 1, end: 2 });
    consumer.onRated({ tenantId: 'one', partition: 0, firstOffset: 0, endOffset: 1 });
    await wait(5);
    answer();
    const second = await untilStarted(2);
    expect(second?.range).to.include({ firstOffset: 1, endOffset: 2 });
    consumer.onRated({ tenantId: 'one', partition: 0, firstOffset: 1, endOffset: 2 });
    await consumer.drain();
    expect(started).to.have.length(2);
  });
});
