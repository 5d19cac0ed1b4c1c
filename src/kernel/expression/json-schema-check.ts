import { isDouble } from '../numbers/double.js';

/**
 * The part of JSON Schema that the input of a definition is described with. It is interpreted, never
 * compiled, and has no regular expressions: whatever a tenant writes, checking a value is one walk
 * through it (docs/decisions/0412).
 */
export interface Fault {
  /** JSON pointer to what is at fault. */
  readonly pointer: string;
  readonly message: string;
}

type Schema = Readonly<Record<string, unknown>>;

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const counts = ['minLength', 'maxLength', 'minItems', 'maxItems'];
const formats = ['date', 'date-time', 'uuid'];
const notes = ['title', 'description', 'default', 'examples', '$schema', '$comment'];
const plain =
  'type properties required additionalProperties items enum const format minimum maximum';
const known = new Set([...plain.split(' '), ...counts, ...notes]);
/** The words of a schema that are taken. */
export const schemaWords = {
  all: [...known],
  types,
  formats,
  numbers: ['minimum', 'maximum', ...counts],
} as const;
const depthMax = 20;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A name as a part of a JSON pointer. */
export const pointerPart = (name: string | number): string =>
  `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

function keywordFault(name: string, value: unknown): string | undefined {
  if (!known.has(name)) {
    return `'${name}' is not taken here. Known are: ${[...known].join(', ')}.`;
  }
  if (name === 'type') {
    const given: unknown[] = Array.isArray(value) ? value : [value];
    const isKnown = given.length > 0 && given.every((one) => types.includes(one as string));
    return isKnown ? undefined : `'type' must be of: ${types.join(', ')}`;
  }
  if (name === 'required' || name === 'enum') {
    return Array.isArray(value) ? undefined : `'${name}' must be a list`;
  }
  if (name === 'format' && !formats.includes(value as string)) {
    return `'format' must be one of: ${formats.join(', ')}`;
  }
  const isNumber = (schemaWords.numbers as readonly string[]).includes(name);
  if (!isNumber || typeof value === 'number') return undefined;
  return `'${name}' must be a number${isExactNumber(value) ? ' that a double holds' : ''}`;
}

/** What of a schema is not of the part that is taken. */
export function shapeFaults(schema: unknown, pointer: string, depth = 0): Fault[] {
  if (typeof schema === 'boolean') return [];
  if (!isObject(schema)) return [{ pointer, message: 'A schema is an object.' }];
  if (depth > depthMax) return [{ pointer, message: `A schema nests at most ${depthMax} deep.` }];
  const faults = Object.entries(schema).flatMap(([name, value]): Fault[] => {
    const message = keywordFault(name, value);
    return message === undefined ? [] : [{ pointer: pointer + pointerPart(name), message }];
  });
  const { properties, items, additionalProperties: more } = schema;
  if (properties !== undefined && !isObject(properties)) {
    faults.push({ pointer: `${pointer}/properties`, message: "'properties' must be an object" });
  }
  const inner: [string, unknown][] = [
    ...(isObject(properties)
      ? Object.entries(properties).map(([name, one]): [string, unknown] => [
          `/properties${pointerPart(name)}`,
          one,
        ])
      : []),
    ...(items === undefined ? [] : [['/items', items] satisfies [string, unknown]]),
    ...(more === undefined ? [] : [['/additionalProperties', more] satisfies [string, unknown]]),
  ];
  return [
    ...faults,
    ...inner.flatMap(([place, one]) => shapeFaults(one, pointer + place, depth + 1)),
  ];
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

const exactForm = /^-?(?=[\d.]{16,80}$)\d+(\.\d+)?$/;
/** Whether it is a number that no double holds, as `jsonWithDoubles` writes it: without an exponent. */
export const isExactNumber = (value: unknown): value is string =>
  typeof value === 'string' && exactForm.test(value) && !isDouble(value);

function isOfType(value: unknown, type: unknown, isExact: boolean): boolean {
  if (type === 'integer')
    return Number.isInteger(value) || (isExact && !String(value).includes('.'));
  return typeOf(value) === type || (isExact && type === 'number');
}

/** Two numbers in one unit: the last place that either has behind the point. */
function inOneUnit(one: string, other: string): [bigint, bigint] {
  const places = Math.max(...[one, other].map((text) => text.split('.')[1]?.length ?? 0));
  const units = (text: string): bigint => {
    const [whole = '', part = ''] = text.split('.');
    return BigInt(whole + part.padEnd(places, '0'));
  };
  return [units(one), units(other)];
}

/** Whether a number is below or above a bound; one that is written out is compared to its last digit. */
function breaks(value: number | string, bound: number, isLeast: boolean): boolean {
  const size = Number(value);
  const written = String(bound);
  if (typeof value === 'number' || size !== bound || written.includes('e')) {
    return isLeast ? size < bound : size > bound;
  }
  const [exact, least] = inOneUnit(value, written);
  return isLeast ? exact < least : exact > least;
}

const formatChecks: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => text.length === 10 && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)),
  'date-time': (text) => text.includes('T') && !Number.isNaN(Date.parse(text)),
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
};

/** Whether two values of JSON are the same. */
const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

function boundFault(value: unknown, schema: Schema, isExact: boolean): string | undefined {
  const { types, isBounded } = listedIn(schema);
  if (!isBounded) return undefined;
  const isExactSize = isExact && (types.includes('number') || types.includes('integer'));
  const size = typeof value === 'number' || isExactSize ? (value as number | string) : undefined;
  const length = typeof value === 'string' ? value.length : undefined;
  const items = Array.isArray(value) ? value.length : undefined;
  const rules: readonly [number | string | undefined, string, boolean][] = [
    [size, 'minimum', true],
    [size, 'maximum', false],
    [length, 'minLength', true],
    [length, 'maxLength', false],
    [items, 'minItems', true],
    [items, 'maxItems', false],
  ];
  const broken = rules.find(([given, name, isLeast]) => {
    const bound = schema[name];
    if (given === undefined || typeof bound !== 'number') return false;
    return breaks(given, bound, isLeast);
  });
  return broken && `breaks '${broken[1]}' ${String(schema[broken[1]])}`;
}

/** What a schema lists, as each value is looked up in it: schemas are long, and values many. */
interface Listed {
  readonly types: readonly unknown[];
  /** As JSON. */
  readonly values: ReadonlySet<string>;
  readonly required: ReadonlySet<string>;
  readonly isBounded: boolean;
}

const bounds = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'];

const listed = new WeakMap<Schema, Listed>();

function listedIn(schema: Schema): Listed {
  const known = listed.get(schema);
  if (known) return known;
  const { type, enum: values, required } = schema;
  const made = {
    types: [...new Set<unknown>(Array.isArray(type) ? type : [type])],
    values: new Set((Array.isArray(values) ? values : []).map((one) => JSON.stringify(one))),
    required: new Set<string>(Array.isArray(required) ? required : []),
    isBounded: bounds.some((name) => name in schema),
  };
  listed.set(schema, made);
  return made;
}

function ownFault(value: unknown, schema: Schema, isExact: boolean): string | undefined {
  const { type, enum: values, format } = schema;
  if (type !== undefined) {
    const { types: allowed } = listedIn(schema);
    if (!allowed.some((one) => isOfType(value, one, isExact)))
      return `must be ${allowed.join(' or ')}`;
  }
  if (Array.isArray(values) && !listedIn(schema).values.has(JSON.stringify(value))) {
    return `must be one of: ${values.map((one) => JSON.stringify(one)).join(', ')}`.slice(0, 500);
  }
  if ('const' in schema && !isSame(schema['const'], value)) {
    return `must be ${JSON.stringify(schema['const'])}`.slice(0, 500);
  }
  if (typeof format === 'string' && typeof value === 'string') {
    if (formatChecks[format]?.(value) === false) return `must be a ${format}`;
  }
  return boundFault(value, schema, isExact);
}

const faultsMax = 20;

/** What of a value is not as its schema says; the first twenty. */
export function valueFaults(
  value: unknown,
  schema: unknown,
  options: { readonly takesExactNumbers: boolean } = { takesExactNumbers: true },
): Fault[] {
  if (schema === false) return [{ pointer: '', message: 'is not taken here' }];
  if (!isObject(schema)) return [];
  const own = ownFault(value, schema, options.takesExactNumbers && isExactNumber(value));
  if (own !== undefined) return [{ pointer: '', message: own }];
  if (typeof value !== 'object' || value === null) return [];
  const faults: Fault[] = [];
  const { properties, additionalProperties: more, items } = schema;
  // Where a fault stands is written down for what is at fault alone: inputs are long.
  const look = (part: string | number, one: unknown, inner: unknown): boolean => {
    const found = valueFaults(one, inner, options);
    faults.push(
      ...found.map((fault) => ({ ...fault, pointer: pointerPart(part) + fault.pointer })),
    );
    return faults.length >= faultsMax;
  };
  if (Array.isArray(value)) {
    if (items !== undefined) value.some((one, index) => look(index, one, items));
  } else {
    const members = value as Readonly<Record<string, unknown>>;
    const named = isObject(properties) ? properties : {};
    for (const name of listedIn(schema).required) {
      if (Object.hasOwn(members, name)) continue;
      faults.push({ pointer: pointerPart(name), message: 'is required' });
      if (faults.length >= faultsMax) return faults;
    }
    Object.entries(members).some(([name, one]) =>
      look(name, one, Object.hasOwn(named, name) ? named[name] : more),
    );
  }
  return faults.slice(0, faultsMax);
}
