import { parseJson } from '../../kernel/text/json.js';
import { isUuid } from '../../kernel/id.js';
import { readUsageEvent, type UsageEventRead } from '../../rating/index.js';

/** A message of the log; of an invalid event, the fields that can be read. */
export interface ReadMessage {
  readonly content: unknown;
  readonly read: UsageEventRead;
  readonly externalTransactionId: string | null;
  readonly accountRef: string | null;
  readonly serviceId: string | null;
  readonly eventAt: string | null;
}

const referenceLengthMax = 255;

/** A text that can be stored and looked up; an event without one has no identity. */
function reference(value: unknown): string | null {
  const isUsable =
    typeof value === 'string' &&
    value !== '' &&
    value.length <= referenceLengthMax &&
    !value.includes('\0') &&
    value.isWellFormed();
  return isUsable ? value : null;
}

/** Parses a message, which may have any content: never throws. */
export function readMessage(text: string): ReadMessage {
  let content: unknown;
  try {
    content = parseJson(text);
  } catch {
    content = undefined;
  }
  return readContent(content);
}

/** The same for a message that is parsed already. */
export function readContent(content: unknown): ReadMessage {
  const read = readUsageEvent(content);
  if (read.ok) {
    const { externalTransactionId, accountRef, serviceId, timestamp } = read.event;
    return { content, read, externalTransactionId, accountRef, serviceId, eventAt: timestamp };
  }
  const members: Readonly<Record<string, unknown>> =
    typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  const serviceId = reference(members['serviceId']);
  return {
    content,
    read,
    externalTransactionId: reference(members['externalTransactionId']),
    accountRef: reference(members['billingAccountRef']),
    serviceId: serviceId !== null && isUuid(serviceId) ? serviceId.toLowerCase() : null,
    eventAt: null,
  };
}
