import { defined } from '../../kernel/defined.js';
import type { JsonReply, Operation, Reply } from './operation.js';
import { orNull, type JsonSchema, type SchemaTranslator } from './openapi-schema.js';
import type { RowSpec } from './row.js';

const text = { type: 'string' };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };

/** An object that has all its properties but those that may be missing. */
const object = (
  properties: Record<string, unknown>,
  description?: string,
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  ...defined({ description }),
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

const described = (schema: JsonSchema, description: string): JsonSchema => ({
  ...schema,
  description,
});

/** The envelope (spec/resources.md R4). */
const envelope = (data: JsonSchema): JsonSchema =>
  object(
    {
      requestId: described(text, 'Id of the request.'),
      success: { type: 'boolean', const: true, description: 'Always true here.' },
      status: described(integer, 'The HTTP status.'),
      errors: {
        type: 'array',
        maxItems: 0,
        description: 'Always empty here.',
        items: { description: 'An error; there is none.' },
      },
      data,
    },
    'The envelope around the data.',
  );

const pageSort = (): JsonSchema =>
  object(
    {
      empty: described(boolean, 'Whether the caller gave no order.'),
      sorted: described(boolean, 'Whether the caller gave an order.'),
      unsorted: described(boolean, 'The opposite of sorted.'),
    },
    'The order of a page.',
  );

/** The page inside an envelope. */
function envelopePage(row: JsonSchema, translator: SchemaTranslator): JsonSchema {
  const sort = translator.define('PageSort', pageSort);
  const pageable = translator.define('Pageable', () =>
    object(
      {
        pageNumber: described(integer, 'Page, counted from 0.'),
        pageSize: described(integer, 'Rows a page.'),
        sort,
        offset: described(integer, 'Rows before this page.'),
        paged: described(boolean, 'Always true.'),
        unpaged: described(boolean, 'Always false.'),
      },
      'Where a page lies.',
    ),
  );
  return object(
    {
      content: { type: 'array', items: row, description: 'The rows.' },
      totalElements: described(integer, 'Rows in all.'),
      totalPages: described(integer, 'Pages in all.'),
      size: described(integer, 'Rows a page.'),
      number: described(integer, 'Page, counted from 0.'),
      numberOfElements: described(integer, 'Rows of this page.'),
      first: described(boolean, 'Whether this is the first page.'),
      last: described(boolean, 'Whether this is the last page.'),
      empty: described(boolean, 'Whether the page has no rows.'),
      sort,
      pageable,
    },
    'A page of rows.',
  );
}

const pageResponse = (item: JsonSchema): JsonSchema =>
  object(
    {
      content: { type: 'array', items: item, description: 'The items.' },
      page: described(integer, 'Page, counted from 0.'),
      size: described(
        integer,
        'Items a page; fewer than were asked for where the page would be larger than 8 MiB: then ' +
          'page is counted in pages of this size.',
      ),
      totalElements: described(integer, 'Items in all.'),
      totalPages: described(integer, 'Pages in all.'),
    },
    'A page of items.',
  );

function offsetPage(item: JsonSchema, translator: SchemaTranslator): JsonSchema {
  const pagination = translator.define('Pagination', () =>
    object(
      {
        total: described(integer, 'Items in all.'),
        limit: described(integer, 'Items a page.'),
        offset: described(integer, 'Items before this page.'),
        hasMore: described(boolean, 'Whether items follow.'),
        nextOffset: described(
          integer,
          'Where to go on; only of a page that ended before the limit that was asked for, because ' +
            'it would have been larger than 8 MiB. Then limit says how many items it has.',
        ),
      },
      'Where a page lies.',
      ['nextOffset'],
    ),
  );
  return object(
    { data: { type: 'array', items: item, description: 'The items.' }, pagination },
    'A page of items.',
  );
}

const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The PascalCase row that `toRow` makes of a record (spec/resources.md R7). */
function rowSchema(spec: RowSpec, translator: SchemaTranslator): JsonSchema {
  const lookupName = translator.define('LookupName', () =>
    object({ Name: described(text, 'The display name.') }, 'What a lookup field points to.'),
  );
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
      properties[`${field}__r`] = described(orNull(lookupName), `Name behind ${field}.`);
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
  const rowOf = (spec: RowSpec) =>
    translator.define(rowName(spec), () => rowSchema(spec, translator));
  const rowEnvelope = (spec: RowSpec) =>
    translator.define(`${rowName(spec)}Envelope`, () => envelope(rowOf(spec)));
  const rowPageEnvelope = (spec: RowSpec) =>
    translator.define(`${rowName(spec)}PageEnvelope`, () =>
      envelope(envelopePage(rowOf(spec), translator)),
    );
  /** A wrapper has a name when what it wraps has one. */
  const wrapped = (schema: object, suffix: string, wrap: (item: JsonSchema) => JsonSchema) => {
    const name = translator.nameOf(schema);
    const make = () => wrap(translator.translate(schema));
    return name === undefined ? make() : translator.define(`${name}${suffix}`, make);
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
        const page = wrapped(reply.schema, 'Page', pageResponse);
        return reply.row ? { oneOf: [page, rowPageEnvelope(reply.row)] } : page;
      }
      case 'enveloped':
        return wrapped(reply.schema, 'Envelope', envelope);
      case 'envelopedList':
        return wrapped(reply.schema, 'ListEnvelope', (item) =>
          envelope({ type: 'array', items: item, description: 'The items.' }),
        );
      case 'offsetPage':
        return wrapped(reply.schema, 'List', (item) => offsetPage(item, translator));
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
