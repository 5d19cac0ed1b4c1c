import { schemaWords } from '../../kernel/expression/json-schema-check.js';
import { ownEventForm } from '../../messages/definitions/event.js';
import { webhookEvents } from '../../messages/webhook.js';

/** Names that no variable of a loop or a catch has: they mean something else in an expression. */
export const reservedNames: ReadonlySet<string> = new Set(
  (
    'input context workflow output secrets data true false null in as break const continue else ' +
    'for function if import let loop package namespace return var void while chargedList ' +
    'chargedValue keptName __proto__ constructor prototype'
  ).split(' '),
);

/** Where to go on that is no task. */
export const ends: ReadonlySet<string> = new Set(['continue', 'exit', 'end']);

const own = { pattern: ownEventForm.source };
/** Kinds of events: those that tenants make themselves, and all. */
export const eventKinds = { own, any: { anyOf: [{ enum: [...webhookEvents] }, own] } } as const;

const inner = { $ref: '#/$defs/schema' };
const type = { enum: schemaWords.types };
const ofWord: Readonly<Record<string, object>> = {
  type: { anyOf: [type, { type: 'array', minItems: 1, items: type }] },
  properties: { type: 'object', additionalProperties: inner },
  required: { type: 'array' },
  additionalProperties: inner,
  items: inner,
  enum: { type: 'array' },
  format: { enum: schemaWords.formats },
  ...Object.fromEntries(schemaWords.numbers.map((word) => [word, { type: 'number' }])),
};

/** The part of JSON Schema that inputs are described with. */
export const schemaForm = {
  type: ['object', 'boolean'],
  additionalProperties: false,
  properties: Object.fromEntries(schemaWords.all.map((word) => [word, ofWord[word] ?? {}])),
};
