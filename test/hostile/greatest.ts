import type { Schema } from '../support/http/places.js';

/**
 * The longest and deepest body that a schema allows, as JSON text. `{n}` in it is to be replaced by a
 * number that no other request has: names and keys are unique then.
 */

/** Twenty digits before and eighteen after the point: what a decimal field accepts. */
const manyDigits = '12345678901234567890.123456789012345678';
/** How deep JSON may be nested; the innermost objects of a body stay below it. */
const depthMax = 40;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

let fresh = 0;

/** How long the number is that `{n}` becomes. */
const numberLength = 14;

/** A text of this length that no other text of the body is. */
function longText(length: number): string {
  fresh += 1;
  const mark = `x{n}x${fresh.toString(36)}x`;
  const isMarked = length >= mark.length + numberLength;
  const text = (isMarked ? mark : '') + 'ab'.repeat(Math.ceil(length / 2));
  return text.slice(0, Math.max(1, isMarked ? length - numberLength + 3 : length));
}

/** An object of anything: as deep as can be, then as wide as the room allows. */
function freeObject(room: number): string {
  const deep = `${'{"a":'.repeat(depthMax)}${manyDigits}${'}'.repeat(depthMax)}`;
  const wide: string[] = [`"deep":${deep}`];
  for (let length = deep.length; length + 60 < room; length += 60) {
    wide.push(`"k${wide.length}":[${manyDigits.slice(0, 30)},"é\\u4e2d"]`);
  }
  return `{${wide.join(',')}}`;
}

function textOf(schema: Schema, name: string, room: number): string | undefined {
  const { format, enum: values, maxLength, pattern } = schema;
  // A made-up reference would be refused before it costs anything.
  if (format === 'uuid' || /(Id|Ref|_id|_ID)$/.test(name) || 'reference' in schema)
    return undefined;
  if (format === 'calendar-date') return name.startsWith('end') ? '"2999-12-31"' : '"2026-01-01"';
  if (format === 'date-time') return '"2026-10-05T12:00:00.123456789+14:00"';
  if (Array.isArray(values)) return JSON.stringify(values.at(-1));
  if (name === 'url') return `"https://no-such-host.invalid/${'a'.repeat(1_900)}"`;
  const length = Math.max(1, Math.min(typeof maxLength === 'number' ? maxLength : 4_000, room));
  if (typeof pattern === 'string' && pattern !== '\\S') {
    return JSON.stringify(`f${longText(Math.max(12, length - 1)).replaceAll('{n}', '')}`);
  }
  return JSON.stringify(longText(length));
}

function arrayOf(schema: Schema, name: string, room: number, like: unknown): string {
  const items = (schema['items'] ?? {}) as Schema;
  const most = typeof schema['maxItems'] === 'number' ? schema['maxItems'] : 10_000;
  const example = Array.isArray(like) ? (like[0] as unknown) : undefined;
  if (name === 'rateCardTiers') return tiers(Math.min(most, Math.floor(room / 110)));
  if (name === 'steps' || name === 'exprList') {
    return steps(Math.min(most, Math.floor(room / 2_100) + 1));
  }
  const parts: string[] = [];
  let left = room;
  while (parts.length < most && (left > 0 || parts.length === 0)) {
    const part = greatest(items, name, Math.min(left / 4, 20_000), example) ?? 'null';
    parts.push(part);
    left -= part.length + 1;
  }
  return `[${parts.join(',')}]`;
}

/** Tiers that adjoin, each with as many digits as it may have. */
function tiers(count: number): string {
  const most = Math.max(1, count);
  const all = Array.from({ length: most }, (_each, index) => {
    const max = index === most - 1 ? 'null' : String(index + 1);
    return (
      `{"tierNum":${index + 1},"tierMinVal":${index},"tierMaxVal":${max},` +
      `"tierUnitRate":0.123456789012345678,"flatRate":false}`
    );
  });
  return `[${all.join(',')}]`;
}

/** Steps of which each divides as often as its length allows, from the one before it. */
function steps(count: number): string {
  const all = Array.from({ length: Math.max(1, count) }, (_each, index) => {
    const from = index === 0 ? '1.000000000000000000000000000001' : `s${index - 1}`;
    const formula = (from + ' / 1.00000000000000000007'.repeat(82)).slice(0, 1_990);
    return `{"name":"s${index}","label":"Step","formula":"${formula.replace(/[ /]+$/, '')}"}`;
  });
  return `[${all.join(',')}]`;
}

function objectOf(schema: Schema, room: number, like: unknown): string {
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  const example = isObject(like) ? like : {};
  const entries = Object.entries(properties);
  const isWide = ({ type, freeObject: free }: Schema): boolean =>
    type === 'array' || type === 'object' || free !== undefined;
  const narrow = entries.filter(([, property]) => !isWide(property));
  const wide = entries.filter(([, property]) => isWide(property));
  let left = room;
  const parts: string[] = [];
  const place = ([name, property]: [string, Schema], share: number): void => {
    const text = greatest(property, name, share, example[name]);
    if (text === undefined) return;
    parts.push(`${JSON.stringify(name)}:${text}`);
    left -= text.length + name.length + 4;
  };
  for (const entry of narrow) place(entry, Math.max(20, room / 4));
  for (const [index, entry] of wide.entries()) place(entry, left / (wide.length - index));
  return `{${parts.join(',')}}`;
}

/** An object whose values have one schema, with as many of them as there is room for. */
function recordOf(values: Schema, room: number): string {
  const parts: string[] = [];
  for (let left = room; left > 0 || parts.length === 0; left -= parts.at(-1)?.length ?? 0) {
    const value = greatest(values, 'value', Math.min(left / 4, 20_000)) ?? 'null';
    parts.push(`"k${parts.length}":${value}`);
  }
  return `{${parts.join(',')}}`;
}

/** The variant of a `oneOf` that the example has; the tiered one of prices. */
function variantOf(schema: Schema, like: unknown): Schema | undefined {
  const { oneOf, anyOf, discriminator } = schema as {
    readonly oneOf?: readonly Schema[];
    readonly anyOf?: readonly Schema[];
    readonly discriminator?: { readonly propertyName: string };
  };
  const variants = oneOf ?? anyOf;
  if (variants === undefined) return undefined;
  const tag = discriminator?.propertyName;
  const given = tag !== undefined && isObject(like) ? like[tag] : undefined;
  const tagOf = (variant: Schema): unknown =>
    (variant['properties'] as Record<string, { const?: unknown }> | undefined)?.[tag ?? '']?.const;
  return (
    variants.find((variant) => tagOf(variant) === 'TIERED') ??
    variants.find((variant) => given !== undefined && tagOf(variant) === given) ??
    variants[0]
  );
}

/** Values of the example that name something, or that the text of the schema does not describe. */
const kept = new Set([
  'priceDimName',
  'dimensionDataType',
  'priceOutput',
  'attributeName',
  'attributeValue',
  'dimension',
  'redirect_uris',
  'grant_types',
  'response_types',
  'scope',
  'key',
  'token_endpoint_auth_method',
  'meterResetFrequency',
  'eventTimestamp',
  'events',
]);

const typesIn = ({ type }: Schema): readonly unknown[] => [type].flat();

/** A value of a keyword of ours, or of an object; undefined where it is neither. */
function ofKeyword(schema: Schema, like: unknown): string | undefined {
  if ('const' in schema) return JSON.stringify(schema['const']);
  if ('decimal' in schema) return like === undefined ? manyDigits : JSON.stringify(like);
  if ('wholeNumber' in schema) {
    return String((schema['wholeNumber'] as { readonly cap?: number }).cap ?? 15_000);
  }
  if ('dateOrInstant' in schema) return '"2026-10-05"';
  return undefined;
}

/** What a body may leave out where the example does: these name things that have to be there. */
const isNaming = (schema: Schema): boolean =>
  ['picklist', 'currency', 'country', 'propertyNames'].some((keyword) => keyword in schema);

/**
 * About `room` characters that fit the schema; `like` is a body, or a part of one, that is right.
 * Undefined: it is better left out.
 */
export function greatest(
  schema: Schema,
  name: string,
  room: number,
  like?: unknown,
): string | undefined {
  // References and dates are those of the example: they lead further than made-up ones.
  const isOfExample =
    isNaming(schema) ||
    kept.has(name) ||
    ['uuid', 'calendar-date'].includes(String(schema['format'])) ||
    /(Id|Ref|_id|_ID)$/.test(name);
  if (isOfExample && like !== undefined) return JSON.stringify(like);
  if (name === 'dimensionDataType') return '"Number"';
  if ('currency' in schema) return '"USD"';
  if (isNaming(schema)) return undefined;
  const known = ofKeyword(schema, like);
  if (known !== undefined) return known;
  const variant = variantOf(schema, like);
  if (variant !== undefined) return greatest(variant, name, room, like);
  const types = typesIn(schema);
  if (types.includes('array')) return arrayOf(schema, name, room, like);
  if (types.includes('object')) {
    const [values] = Object.values((schema['patternProperties'] ?? {}) as Record<string, Schema>);
    if (values !== undefined) return recordOf(values, room);
    return schema['properties'] === undefined
      ? grown(like, room, schema['maxProperties'])
      : objectOf(schema, room, like);
  }
  if (types.includes('boolean')) return 'true';
  if (types.includes('integer') || types.includes('number')) {
    return JSON.stringify(like ?? schema['maximum'] ?? schema['minimum'] ?? 1);
  }
  if (types.includes('string')) return textOf(schema, name, room);
  return like === undefined ? freeObject(Math.min(room, 2_000)) : JSON.stringify(like);
}

/** An object of anything as the example has it, with all that there is room for beside. */
function grown(like: unknown, room: number, most: unknown): string {
  if (!isObject(like)) return freeObject(typeof most === 'number' ? most * 40 : room);
  const own = Object.entries(like).map(([name, value]) => {
    const isId = typeof value === 'string' && /[Tt]ransactionId$/.test(name);
    return `${JSON.stringify(name)}:${isId ? '"g{n}"' : JSON.stringify(value)}`;
  });
  const left = typeof most === 'number' ? (most - own.length) * 40 : room - own.join(',').length;
  const rest = freeObject(Math.max(0, left)).slice(1, -1);
  return `{${[...own, rest].join(',')}}`;
}

/** The text with its marks replaced by a number that no other request has. */
export const numbered = (text: string, number: number | string): string =>
  text.replaceAll('{n}', String(number).slice(-numberLength).padStart(numberLength, '0'));
