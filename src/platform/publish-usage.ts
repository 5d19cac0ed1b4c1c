import { Portions } from '../kernel/portions.js';
import { stringifyJson } from '../kernel/text/json.js';
import { stringifyJsonInPortions } from '../kernel/text/json-write-portions.js';
import { problem, Problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { Published, UsageBroker, UsageMessage } from '../messages/broker.js';

/** A body of the ingestion endpoint, not validated yet. */
interface Ingestion {
  readonly key?: unknown;
  readonly message?: unknown;
}

export type PublishedResult = { readonly status: 'published' } & Published;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/**
 * A key as text: a string that the log can store as it is; any other value, and strings that a text
 * column cannot hold, as JSON.
 */
function keyText(key: unknown): string | null {
  if (key === undefined || key === null) return null;
  const isStorable = typeof key === 'string' && !key.includes('\0') && key.isWellFormed();
  return isStorable ? key : stringifyJson(key);
}

/** The organization: the token's, else the message's (spec/gateway.md R4). */
function orgIdOf(scope: Scope, message: Readonly<Record<string, unknown>>): string {
  if (scope.orgId !== null) return scope.orgId;
  const { morgId } = message;
  const orgId = typeof morgId === 'number' ? String(morgId) : morgId;
  if (typeof orgId !== 'string' || orgId.trim() === '') {
    throw problem.validation(
      'The organization id is required in the message or as morgId in the token.',
      { field: 'morgId' },
    );
  }
  return orgId.replaceAll('\0', '\uFFFD').toWellFormed();
}

/**
 * The gateway's validation; all other checks are made by rating, which rejects the event visibly. A
 * promise only of a long message.
 */
function toMessage(scope: Scope, body: unknown): UsageMessage | Promise<UsageMessage> {
  const { key, message }: Ingestion = isObject(body) ? body : {};
  if (!isObject(message)) {
    throw problem.validation("'message' is required and must be a JSON object", {
      field: 'message',
    });
  }
  const account = message['billingAccountRef'];
  const named = {
    tenantId: scope.tenantId,
    partitionKey: typeof account === 'string' ? account : '',
    key: keyText(key),
    orgId: orgIdOf(scope, message),
  };
  const text = stringifyJsonInPortions(message, { isUneven: true });
  return typeof text === 'string'
    ? { ...named, message: text }
    : text.then((whole) => ({ ...named, message: whole }));
}

const publishedResult = ({ topic, partition, offset }: Published): PublishedResult => ({
  status: 'published',
  topic,
  partition,
  offset,
});

/** Publishes a usage event (spec/gateway.md R1). 400, 502, 504. */
export async function publishUsage(
  broker: UsageBroker,
  scope: Scope,
  body: unknown,
): Promise<PublishedResult> {
  const made = toMessage(scope, body);
  return publishedResult(await broker.publish(made instanceof Promise ? await made : made));
}

/**
 * Publishes events in order; each is answered at its position, with a problem if the gateway's
 * validation fails (docs/decisions/0041).
 */
export async function publishUsageBatch(
  broker: UsageBroker,
  scope: Scope,
  bodies: readonly unknown[],
): Promise<(PublishedResult | Problem)[]> {
  const checked: (UsageMessage | Problem)[] = [];
  const portions = new Portions();
  for (const body of bodies) {
    try {
      checked.push(await toMessage(scope, body));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      checked.push(error);
    }
    if (portions.isOver) await portions.rest();
  }
  const messages = checked.filter((each): each is UsageMessage => !(each instanceof Problem));
  const published = messages.length === 0 ? [] : await broker.publishAll(messages);
  let next = 0;
  return checked.map((each) => {
    if (each instanceof Problem) return each;
    const result = published[next] as Published;
    next += 1;
    return publishedResult(result);
  });
}
