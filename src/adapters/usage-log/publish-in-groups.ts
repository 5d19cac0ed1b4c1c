import { AsyncResource } from 'node:async_hooks';
import { Problem, problem } from '../../kernel/problem.js';
import type { Published, UsageMessage } from '../../messages/broker.js';
import type { Logger } from '../../platform/log.js';

export interface PublishOptions {
  /** How long a publish may take (spec/gateway.md R8). */
  readonly timeoutMs: number;
  readonly log: Logger;
}

interface GroupOptions extends PublishOptions {
  /** What one group may hold; a request that alone holds more is a group of its own. */
  readonly messagesMax: number;
  readonly bytesMax: number;
}

type Publish = (messages: readonly UsageMessage[]) => Promise<Published[]>;

interface Waiting {
  readonly messages: readonly UsageMessage[];
  readonly bytes: number;
  readonly context: AsyncResource;
  /** Ends its wait; of one that has been sent, too. */
  timer: NodeJS.Timeout | undefined;
  readonly resolve: (published: Published[]) => void;
  readonly reject: (error: unknown) => void;
  /** The request has timed out: messages not sent by then are dropped. */
  isGivenUp: boolean;
}

const messagesOf = (group: readonly Waiting[]): UsageMessage[] =>
  group.flatMap(({ messages }) => messages);

const bytesOf = (messages: readonly UsageMessage[]): number =>
  messages.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0);

/**
 * Publishes in groups: while one is being sent, the next one fills. 504: a publish takes longer
 * than the time limit; 502: the broker refuses it.
 */
export function inGroups(send: Publish, options: GroupOptions): Publish {
  const queue: Waiting[] = [];
  let isRunning = false;

  const takeGroup = (): Waiting[] => {
    let count = 0;
    let bytes = 0;
    const end = queue.findIndex((waiting) => {
      count += waiting.messages.length;
      bytes += waiting.bytes;
      return count > options.messagesMax || bytes > options.bytesMax;
    });
    const group = queue.splice(0, end === -1 ? queue.length : Math.max(end, 1));
    return group.filter(({ isGivenUp }) => !isGivenUp);
  };
  const run = async (): Promise<void> => {
    isRunning = true;
    while (queue.length > 0) {
      const group = takeGroup();
      const [first] = group;
      if (first === undefined) continue;
      try {
        // Under a request of this group, not under the one that found nobody publishing.
        const published = await first.context.runInAsyncScope(send, undefined, messagesOf(group));
        let from = 0;
        for (const waiting of group) {
          clearTimeout(waiting.timer);
          waiting.resolve(published.slice(from, (from += waiting.messages.length)));
        }
      } catch (error) {
        for (const waiting of group) refuse(waiting, error);
      }
    }
    isRunning = false;
  };
  const refuse = ({ timer, isGivenUp, reject }: Waiting, error: unknown): void => {
    clearTimeout(timer);
    if (isGivenUp || error instanceof Problem) {
      reject(error);
      return;
    }
    options.log.error({ err: error }, 'publishing usage failed');
    reject(problem.badGateway('The event could not be published to the broker; send it again.'));
  };
  const giveUp = (waiting: Waiting): void => {
    waiting.isGivenUp = true;
    waiting.reject(problem.timeout(`Publishing took longer than ${options.timeoutMs} ms.`));
  };
  return (messages) =>
    new Promise<Published[]>((resolve, reject) => {
      const waiting: Waiting = {
        messages,
        bytes: bytesOf(messages),
        context: new AsyncResource('publish'),
        timer: undefined,
        resolve,
        reject,
        isGivenUp: false,
      };
      waiting.timer = setTimeout(giveUp, options.timeoutMs, waiting);
      queue.push(waiting);
      if (!isRunning) void run();
    });
}
