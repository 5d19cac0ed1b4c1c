import { Type, type Static } from 'typebox';
import { eventKindsText, ownEventForm } from '../../messages/definitions/event.js';
import { deliveryStatuses, webhookEvents, type WebhookEvent } from '../../messages/webhook.js';
import { examples } from '../openapi/examples.js';
import { Instant, nullable, optional, Text, updateBody, Uuid, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';

const oneOf = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], description });

const Url = Type.String({
  // Whether it is an address at all, and of whom, the command looks at.
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020@#?/\\\\]+(?:[/?][^\\u0000-\\u0020#\\\\]*)?$',
  expected: 'an http or https address without user, password and fragment',
  maxLength: 2000,
  description: 'Where events are sent: http or https, without user, password and fragment.',
});
const kinds = webhookEvents.map((kind) => kind.replace('.', '\\.'));
const Kind = Type.Unsafe<WebhookEvent>({
  type: 'string',
  pattern: `^(?:${kinds.join('|')})$|${ownEventForm.source}`,
  expected: `one of: ${eventKindsText}`,
  examples: [...webhookEvents],
  description: `One of: ${eventKindsText}.`,
});
const Events = Type.Array(Kind, {
  minItems: 1,
  maxItems: 100,
  description: 'The kinds of events to be told of.',
});
const Secret = Type.String({
  // Six bytes at least: what is shorter is found by trying, from one delivery that somebody saw.
  pattern: '^(?:(?!whsec_)[^]{6,}|whsec_[A-Za-z0-9+/]{8,}={0,2})$',
  expected: 'a text of six characters or more, or whsec_ followed by base64 of six bytes or more',
  minLength: 6,
  maxLength: 1000,
  description:
    'What deliveries are signed with: the bytes of the text, or of the base64 after `whsec_`; at ' +
    'least six, better 32.',
});
const Active = Type.Boolean({ description: 'Whether events are sent.' });

const fromServer = {
  ignore: ['createdAt', 'updatedAt', 'disabledReason', 'disabledAt', 'failingSince'],
};

export const WebhookCreate = writeBody(
  { url: Url, events: Events, secret: Secret, active: optional(Active) },
  { description: 'A webhook to register.', ...fromServer },
);
export const WebhookUpdate = updateBody(WebhookCreate, ['active']);

const RegistrationFields = {
  id: Uuid('Id of the webhook.'),
  url: Type.String({ description: 'Where events are sent.' }),
  events: Type.Array(
    Type.Unsafe<WebhookEvent>({ type: 'string', description: 'A kind of events.' }),
    { description: 'The kinds of events that are sent.' },
  ),
  active: Active,
};
const createdAt = Instant('When it was registered.');

/** spec/platform.md R35. */
export const WebhookRegistration = Type.Object(
  { ...RegistrationFields, createdAt },
  { description: 'A webhook that was registered.' },
);
export const Webhook = Type.Object(
  {
    ...RegistrationFields,
    disabledReason: nullable(
      Type.String({ description: 'Why the product has switched it off; null when it did not.' }),
    ),
    disabledAt: nullable(Instant('When the product has switched it off.')),
    failingSince: nullable(Instant('Since when nothing has reached it; null while it is well.')),
    createdAt,
    updatedAt: Instant('When it was last changed.'),
  },
  { description: 'A webhook: an address that is told of events.' },
);

const Attempt = Type.Object(
  {
    round: Type.Integer({
      description: 'Which time that it was sent: 1, then 2 when redelivered.',
    }),
    number: Type.Integer({ description: 'Which attempt of that round, counted from 1.' }),
    statusCode: nullable(
      Type.Integer({ description: 'HTTP status of the answer, if there was one.' }),
    ),
    error: nullable(Type.String({ description: 'Why it failed; null when it did not.' })),
    answer: nullable(Type.String({ description: 'The first 4 KiB of the body of the answer.' })),
    startedAt: Instant('When it began.'),
    durationMs: Type.Integer({ description: 'How long it took, in milliseconds.' }),
  },
  { description: 'An attempt to deliver.' },
);

export const WebhookDelivery = Type.Object(
  {
    id: Uuid('Id of the delivery: the header webhook-id of every attempt.'),
    webhookId: Uuid('The webhook that it goes to.'),
    event: Type.String({ description: 'The kind of the event.' }),
    recordId: Uuid('The record that the event tells of.'),
    recordType: oneOf(
      ['invoice', 'payment', 'usageEvent', 'alert', 'execution', 'record', 'webhook'],
      'What that is.',
    ),
    recordName: nullable(
      Type.String({
        description:
          'What people call it: number, reference, external id or name; of an execution its workflow.',
      }),
    ),
    workflowId: nullable(Uuid('Of an execution: id of its workflow.')),
    accountId: nullable(Uuid('Of an alert that counts one account: that account.')),
    status: oneOf(deliveryStatuses, 'How it stands: retrying while it waits for the next attempt.'),
    reason: nullable(Type.String({ description: 'Why it was given up; null when it was not.' })),
    attempts: Type.Array(Attempt, { description: 'The attempts so far.' }),
    createdAt: Instant('When the event happened.'),
    nextAttemptAt: nullable(Instant('When it is sent next, if an attempt has failed.')),
    endedAt: nullable(Instant('When it was delivered or given up.')),
  },
  { description: 'An event on its way to a webhook.' },
);

const overlapSecondsMax = 7 * 86_400;
/** How long the secret before it stays valid, when nothing is said. */
export const overlapSecondsDefault = 86_400;

export const WebhookRotation = writeBody(
  {
    secret: optional(Secret),
    overlapSeconds: optional(
      Type.Integer({
        minimum: 0,
        maximum: overlapSecondsMax,
        description: 'How long deliveries are signed with the former secret too; a day by default.',
      }),
    ),
  },
  { description: 'A new secret; one is made when none is given.' },
);
export const WebhookSecretReply = Type.Object(
  {
    secret: Type.String({ description: 'The new secret; it is shown this once.' }),
    formerValidUntil: Instant('Until when deliveries are signed with the former secret too.'),
  },
  { description: 'A secret that was rotated.' },
);

export const WebhookRecovery = writeBody(
  {
    since: Instant('Events from here on.'),
    includeDelivered: optional(
      Type.Boolean({ description: 'Whether to send again what was delivered, too.' }),
    ),
  },
  { description: 'Which events to send once more.' },
);
export const WebhookRecovered = Type.Object(
  { deliveries: Type.Integer({ description: 'How many are sent once more.' }) },
  { description: 'That events are sent once more.' },
);

const tag = 'Webhooks';
const family = 'records';
const webhooksPath = '/v1/webhooks';
const webhookPath = '/v1/webhooks/{webhookId}';
const deliveriesPath = `${webhookPath}/deliveries` as const;
const common = { tag, family, rateLimit: 'requests' } as const;

const deliveryDescription =
  'Each delivery is a POST of `{event, timestamp, data}` with the headers webhook-id, ' +
  'webhook-timestamp and webhook-signature of the Standard Webhooks specification. Any 2xx answer ' +
  'within 15 seconds ends it; else it is sent again after about 5 seconds, 5 and 30 minutes, 2, 5, ' +
  '10 and 10 hours, with the same webhook-id. Events of one record arrive in their order.';

export const webhookOperations = {
  list: operation({
    id: 'listWebhooks',
    method: 'GET',
    path: webhooksPath,
    ...common,
    summary: 'List webhooks, the oldest first',
    query: Type.Object(offsetQuery),
    details: 'Secrets are never shown.',
    success: reply.offsetPage(Webhook),
    errors: [400],
  }),
  create: operation({
    id: 'createWebhook',
    method: 'POST',
    path: webhooksPath,
    ...common,
    summary: 'Register a webhook',
    description: deliveryDescription,
    body: WebhookCreate,
    example: examples.webhook,
    success: reply.created(WebhookRegistration),
    errors: [400, 409],
  }),
  get: operation({
    id: 'getWebhook',
    method: 'GET',
    path: webhookPath,
    ...common,
    summary: 'Read a webhook',
    details: 'With the reason, where it was switched off.',
    success: reply.dto(Webhook),
    errors: [404],
  }),
  update: operation({
    id: 'updateWebhook',
    method: 'PUT',
    path: webhookPath,
    ...common,
    summary: 'Change a webhook; a secret given here replaces the former at once',
    body: WebhookUpdate,
    example: examples.webhookUpdate,
    details:
      'Set active to true to switch on one that was switched off; what was given up meanwhile can be recovered.',
    success: reply.dto(Webhook),
    errors: [400, 404],
  }),
  delete: operation({
    id: 'deleteWebhook',
    method: 'DELETE',
    path: webhookPath,
    ...common,
    summary: 'Delete a webhook with its deliveries',
    details: 'What waits to be sent is given up.',
    success: reply.empty(),
    errors: [404],
  }),
  rotateSecret: operation({
    id: 'rotateWebhookSecret',
    isAddition: true,
    method: 'POST',
    path: `${webhookPath}/rotate-secret`,
    ...common,
    summary: 'Give a webhook a new secret; for a while both are valid',
    body: WebhookRotation,
    example: { overlapSeconds: 3600 },
    details:
      'The answer shows the new secret, this once. Until the former one ends, deliveries carry both signatures.',
    idempotency: 'none',
    showsSecret: true,
    success: reply.dto(WebhookSecretReply),
    errors: [400, 404, 409],
  }),
  test: operation({
    id: 'testWebhook',
    isAddition: true,
    method: 'POST',
    path: `${webhookPath}/test`,
    ...common,
    summary: 'Send the event webhook.test to a webhook',
    details: 'How it went, the list of deliveries says, under the id of this answer.',
    success: reply.dto(WebhookDelivery),
    errors: [404, 409],
  }),
  recover: operation({
    id: 'recoverWebhook',
    isAddition: true,
    method: 'POST',
    path: `${webhookPath}/recover`,
    ...common,
    summary: 'Send once more what was given up since a time',
    description:
      'The oldest first, and as many as may wait: 100,000 of all webhooks. Where it was as many, send ' +
      'it again later for the rest.',
    body: WebhookRecovery,
    example: { since: '2026-10-01T00:00:00Z', includeDelivered: false },
    details: 'For after your receiver was away: with includeDelivered, also what it has had.',
    success: reply.dto(WebhookRecovered),
    errors: [400, 404, 409],
  }),
  listDeliveries: operation({
    id: 'listWebhookDeliveries',
    method: 'GET',
    path: deliveriesPath,
    ...common,
    summary: 'List the deliveries to a webhook with their attempts, the latest first',
    query: Type.Object({
      ...offsetQuery,
      status: Type.Optional(oneOf(deliveryStatuses, 'Only those that stand so.')),
      event: Type.Optional(Text('Only events of this kind.')),
    }),
    details: 'Each attempt with its answer or its error; kept for 30 days.',
    success: reply.offsetPage(WebhookDelivery),
    errors: [400, 404],
  }),
  redeliver: operation({
    id: 'redeliverWebhook',
    method: 'POST',
    path: `${deliveriesPath}/{deliveryId}/redeliver`,
    ...common,
    summary: 'Send a delivery once more, under the same webhook-id',
    details:
      'A receiver that knows the id can tell that it is a repeat. One that waits for its next attempt is sent at once, and its attempts begin anew.',
    success: reply.dto(WebhookDelivery),
    errors: [404, 409],
  }),
};

export type WebhookDto = Static<typeof Webhook>;
export type WebhookDeliveryDto = Static<typeof WebhookDelivery>;
