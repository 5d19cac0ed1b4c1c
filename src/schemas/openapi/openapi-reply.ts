import { Type, type TSchema } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { envelopeOf, LookupName, offsetPageOf, pageOf, rowPageOf } from '../http/envelope.js';
import type { JsonReply, Operation, Reply } from '../http/operation.js';
import { orNull, type JsonSchema, type SchemaTranslator } from './openapi-schema.js';
import type { RowSpec } from '../http/row.js';

const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The PascalCase row that `toRow` makes of a record (spec/resources.md R7). */
function rowSchema(spec: RowSpec, translator: SchemaTranslator): JsonSchema {
  const lookupName = orNull(translator.translate(LookupName));
  const { source } = spec as { source: { required?: readonly string[] } };
  const required = ['__type__'];
  const properties: Record<string, unknown> = {
    __type__: { type: 'string', const: spec.type, description: 'Name of the record type.' },
  };
  for (const [name, schema] of Object.entries(spec.source.properties)) {
    const field = pascalCase(name);
    const isLookup = spec.lookups[name] !== undefined;
    const translated = translator.translate(schema);
    const { description = '' } = schema as { description?: string };
    properties[field] = isLookup
      ? { type: ['string', 'null'], format: 'uuid', description: `${description} The value's id.` }
      : translated;
    if (isLookup) {
      properties[`${field}__r`] = { ...lookupName, description: `Name behind ${field}.` };
    }
    if (source.required?.includes(name)) required.push(field, ...(isLookup ? [`${field}__r`] : []));
  }
  return { type: 'object', description: `A row of ${spec.type}.`, required, properties };
}

/** What a media type is answered with, and an example of it. */
type Content = Readonly<
  Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>
>;

const fileBody = { type: 'string', format: 'binary', description: 'The bytes of the file.' };

/** A stream by its media types: lines of JSON, or bytes. */
const streamContent = (
  types: Extract<Reply, { readonly kind: 'stream' }>['types'],
  translator: SchemaTranslator,
): Content =>
  Object.fromEntries(
    Object.entries(types).map(([type, streamed]): [string, Content[string]] => {
      if (streamed === null) return [type, { schema: fileBody }];
      const anyOf = streamed.lines.map((line) => translator.translate(line));
      const schema = { description: 'Each line is JSON of one of these.', anyOf };
      return [type, { schema, example: streamed.example }];
    }),
  );

/** Events by what the data of each is. */
const eventsContent = (
  { schema, example }: Extract<Reply, { readonly kind: 'events' }>,
  translator: SchemaTranslator,
): Content => ({
  'text/event-stream': {
    schema: translator.translate(schema),
    example: `data: ${JSON.stringify(example)}\n\n`,
  },
});

const rowSpecsOf = (operations: readonly Operation[]): RowSpec[] => [
  ...new Set(
    operations.flatMap(({ success }) => ('row' in success && success.row ? [success.row] : [])),
  ),
];

/**
 * Describes the answers as they are on the wire. A row is called `<type>Row`; where a type has
 * several rows, they are called after what they show: `ServiceSummaryRow`.
 */
export function openApiReplies(
  operations: readonly Operation[],
  translator: SchemaTranslator,
): (reply: Reply, example?: unknown) => Content | undefined {
  const specs = rowSpecsOf(operations);
  const rowName = (spec: RowSpec): string => {
    const isOnly = specs.filter(({ type }) => type === spec.type).length === 1;
    return `${isOnly ? spec.type : (translator.nameOf(spec.source) ?? spec.type)}Row`;
  };
  const named = (name: string, schema: TSchema) =>
    translator.define(name, () => translator.translate(schema));
  const rowOf = (spec: RowSpec) =>
    Type.Unsafe(translator.define(rowName(spec), () => rowSchema(spec, translator)));
  const rowEnvelope = (spec: RowSpec) => named(`${rowName(spec)}Envelope`, envelopeOf(rowOf(spec)));
  const rowPageEnvelope = (spec: RowSpec) =>
    named(`${rowName(spec)}PageEnvelope`, envelopeOf(rowPageOf(rowOf(spec))));
  /** A wrapper has a name when what it wraps has one. */
  const wrapped = (schema: TSchema, suffix: string, wrap: (item: TSchema) => TSchema) => {
    const name = translator.nameOf(schema);
    const whole = wrap(schema);
    return name === undefined ? translator.translate(whole) : named(`${name}${suffix}`, whole);
  };
  const bodyOf = (reply: Exclude<JsonReply, { readonly kind: 'empty' }>): JsonSchema => {
    switch (reply.kind) {
      case 'row':
        return rowEnvelope(reply.row);
      case 'rowPage':
        return rowPageEnvelope(reply.row);
      case 'dto': {
        const dto = translator.translate(reply.schema);
        return reply.row ? { oneOf: [dto, rowEnvelope(reply.row)] } : dto;
      }
      case 'page': {
        const page = wrapped(reply.schema, 'Page', pageOf);
        return reply.row ? { oneOf: [page, rowPageEnvelope(reply.row)] } : page;
      }
      case 'enveloped':
        return wrapped(reply.schema, 'Envelope', envelopeOf);
      case 'envelopedList':
        return wrapped(reply.schema, 'ListEnvelope', (item) =>
          envelopeOf(Type.Array(item, { description: 'The items.' })),
        );
      case 'offsetPage':
        return wrapped(reply.schema, 'List', offsetPageOf);
    }
  };
  return (reply, example) => {
    switch (reply.kind) {
      case 'empty':
      case 'redirect':
        return undefined;
      case 'file':
        return { [reply.contentType]: { schema: fileBody } };
      case 'stream':
        return streamContent(reply.types, translator);
      case 'events':
        return eventsContent(reply, translator);
      default:
        return {
          'application/json': {
            schema: bodyOf(reply),
            ...defined({ example }),
          },
        };
    }
  };
}
