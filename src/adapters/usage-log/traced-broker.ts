import { usageTopic } from '../../messages/usage-log.js';
import type { UsageBroker } from '../../messages/broker.js';
import type { Tracing } from '../../platform/tracing.js';

/** The broker, with a span for each publish, which its records name. */
export function traceBroker(broker: UsageBroker, tracing: Tracing): UsageBroker {
  const publishAll: UsageBroker['publishAll'] = async (messages) => {
    const [first] = messages;
    if (first === undefined) return broker.publishAll(messages);
    const attributes = {
      'messaging.destination.name': usageTopic(first.tenantId),
      'messaging.batch.message_count': messages.length,
      'durabill.tenant_id': first.tenantId,
    };
    return tracing.inSpan({ name: 'publish usage', kind: 'producer', attributes }, () => {
      const trace = tracing.current() ?? null;
      return broker.publishAll(messages.map((message) => ({ ...message, trace })));
    });
  };
  return {
    keepsMessages: broker.keepsMessages,
    publishAll,
    publish: async (message) => {
      const [published] = await publishAll([message]);
      if (published === undefined) throw new Error('The broker told no place.');
      return published;
    },
    read: (...range) => broker.read(...range),
    ends: (tenantId) => broker.ends(tenantId),
    readOne: (...place) => broker.readOne(...place),
    oldestReceipt: (...places) => broker.oldestReceipt(...places),
    readNewest: (...page) => broker.readNewest(...page),
    firstKept: (...place) => broker.firstKept(...place),
    openIntake: (onPublished) => broker.openIntake(onPublished),
    ping: () => broker.ping(),
    close: () => broker.close(),
  };
}
