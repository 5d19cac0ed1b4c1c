import {
  Type,
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from 'typebox';
import type { JsonText } from '../../kernel/text/json.js';

/** Text that is not blank, of at most `maxLength` characters. */
export const Text = (description: string, maxLength = 255) =>
  Type.String({ description, minLength: 1, maxLength, pattern: '\\S' });

/** Text that may be empty, for descriptions and comments. */
export const FreeText = (description: string, maxLength = 4000) =>
  Type.String({ description, maxLength });

/** An id, in any case; in lower case after validation. */
export const Uuid = (description: string) =>
  Type.String({ description, format: 'uuid', canonicalUuid: true });

/** How many of something there are. */
export const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** A real calendar date, `YYYY-MM-DD`. */
export const DateText = (description: string) =>
  Type.String({ description, format: 'calendar-date' });

export const Instant = (description: string) => Type.String({ description, format: 'date-time' });

/** A currency by code or name; the ISO code after validation. */
export const CurrencyCode = (description: string): TUnsafe<string> =>
  Type.Unsafe<string>({ description, currency: true });

/** A currency by id, code or name; the ISO code after validation (spec/platform.md R2). */
export const CurrencyReference = (description: string): TUnsafe<string> =>
  Type.Unsafe<string>({ description, currency: { acceptsId: true } });

/** A country by name, alpha-2 or alpha-3 code; its name after validation. */
export const CountryName = (description: string): TUnsafe<string> =>
  Type.Unsafe<string>({ description, country: true });

/** An object of the caller's own making, kept as it was sent. */
export const FreeObject = (description: string): TUnsafe<Record<string, unknown>> =>
  Type.Unsafe<Record<string, unknown>>({ description, type: 'object', freeObject: true });

/** A JSON object that is kept as the text that was sent; see `keepsBodyText` of an operation. */
export const JsonObjectText = (description: string): TUnsafe<JsonText> =>
  Type.Unsafe<JsonText>({ description, type: 'object', freeObject: 'text' });

export type TNullable<S extends TSchema> = TUnsafe<Static<S> | null>;

/**
 * The value or null. Ajv knows `nullable` only beside `type`; the keywords of ours, which have
 * none, look at `orNull`.
 */
export function nullable<S extends TSchema>(schema: S): TNullable<S> {
  const mark = 'type' in schema ? { nullable: true } : { orNull: true };
  return Type.Unsafe<Static<S> | null>({ ...schema, ...mark });
}

/**
 * A field of a write body that may be left out or be null. In a PUT, leaving it out keeps what is
 * stored and null clears it; in a POST both mean "none".
 */
export function optional<S extends TSchema>(schema: S): TOptional<TNullable<S>> {
  return Type.Optional(nullable(schema));
}

/** Fields that the server alone sets: a client may send them back, and they are ignored. */
const responseOnly = [
  'id',
  'versionNo',
  'isCurrent',
  'fromDate',
  'toDate',
  'seqNo',
  'approvalStatus',
  '__type__',
];

/**
 * A write body: an unknown property is 400 and named; response-only ones are ignored
 * (spec/resources.md R16, R17). `ignore` adds those of this entity. `requiredAny` tells readers of
 * the OpenAPI document that one of these is needed: the command checks it, with a better message.
 */
export function writeBody<P extends TProperties>(
  properties: P,
  options: {
    description?: string;
    ignore?: readonly string[];
    requiredAny?: readonly (keyof P & string)[];
  } = {},
): TObject<P> {
  const { ignore = [], ...annotations } = options;
  const ignored = [...responseOnly, ...ignore].filter((name) => !(name in properties));
  return Type.Object(properties, { ...annotations, additionalProperties: false, ignored });
}

type Updated<P extends TProperties, N extends keyof P> = {
  [K in keyof P]: K extends N
    ? TOptional<TUnsafe<NonNullable<Static<P[K]>>>>
    : P[K] extends TOptional<TSchema>
      ? P[K]
      : TOptional<P[K]>;
};

/** The schema without its null. */
function neverNull(schema: TSchema): TSchema {
  const marks = ['nullable', 'orNull'];
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !marks.includes(name)));
}

/**
 * The PUT body that belongs to a POST body: every field may be left out. Null is 400 for those of
 * `stated`: they always hold something, and no value is the one that clearing would leave
 * (docs/decisions/0311).
 */
export function updateBody<P extends TProperties, const N extends keyof P & string = never>(
  create: TObject<P>,
  stated: readonly N[] = [],
): TObject<Updated<P, N>> {
  const isStated = (name: string): boolean => stated.some((each) => each === name);
  const properties = Object.fromEntries(
    Object.entries(create.properties).map(([name, schema]) => [
      name,
      Type.Optional(isStated(name) ? neverNull(schema) : schema),
    ]),
  );
  const annotations: Record<string, unknown> = { ...create };
  delete annotations['required'];
  delete annotations['requiredAny'];
  return Type.Object(properties, {
    ...annotations,
    properties,
  }) as unknown as TObject<Updated<P, N>>;
}

/** One of several objects, told apart by the constant that `tag` holds in each. */
export function oneOfBy<const V extends readonly TSchema[]>(
  tag: string,
  variants: V,
  options: { description?: string } = {},
): TUnsafe<Static<V[number]>> {
  return Type.Unsafe<Static<V[number]>>({
    ...options,
    type: 'object',
    required: [tag],
    discriminator: { propertyName: tag },
    oneOf: [...variants],
  });
}
