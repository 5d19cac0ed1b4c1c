import type { DecimalRule } from '../../kernel/numbers/decimal-value.js';

/** A JSON Schema of the OpenAPI document (dialect 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Keywords that mean the same in the declarations and in the document. */
const sharedKeywords = new Set([
  '$ref',
  'type',
  'title',
  'description',
  'default',
  'enum',
  'const',
  'examples',
  'minProperties',
  'maxProperties',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
]);

/** Keywords that say nothing about what is sent or answered. */
const silentKeywords = new Set([
  'ignored',
  'nullable',
  'orNull',
  'discriminator',
  'freeObject',
  'canonicalUuid',
  'expected',
  'recordId',
  // Of flows: the name and the kind of record behind a field of a start node.
  'to',
  'reference',
  'isHeld',
]);

/** The longest whole number that a query parameter may be: twelve digits. */
const wholeNumberMax = 999_999_999_999;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is an object of its own: only that becomes a component. */
const isNameable = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && (isObject(value['properties']) || Array.isArray(value['oneOf']));

/** What copies of a declaration share with it. */
const contentOf = (schema: Record<string, unknown>): unknown =>
  schema['properties'] ?? schema['oneOf'];

/**
 * The exported declarations of the modules, each under its export name. `optional()` and
 * `nullable()` copy a declaration but keep its properties, so these are known by name too.
 */
function exportedNames(modules: readonly object[]): Map<unknown, string> {
  const names = new Map<unknown, string>();
  const shared = new Set<unknown>();
  for (const module of modules) {
    for (const [name, schema] of Object.entries(module) as [string, unknown][]) {
      if (!isNameable(schema) || names.has(schema)) continue;
      names.set(schema, name);
      const content = contentOf(schema);
      if (names.has(content)) shared.add(content);
      else names.set(content, name);
    }
  }
  // Two declarations with the same properties: a copy may be of either.
  for (const content of shared) names.delete(content);
  return names;
}

/** The schema, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, ...rest } = schema;
  if (typeof type === 'string' && !('const' in schema) && !('oneOf' in schema)) {
    return {
      type: [type, 'null'],
      ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
      ...rest,
    };
  }
  const { description, ...value } = schema;
  const annotation = description === undefined ? {} : { description };
  return { ...annotation, anyOf: [value, { type: 'null' }] };
}

/** `anyOf` of constants of one type is an enumeration. */
function unionOf(variants: readonly JsonSchema[]): JsonSchema {
  const types = new Set(variants.map((variant) => variant['type']));
  return variants.every((variant) => 'const' in variant) && types.size === 1
    ? { type: variants[0]?.['type'], enum: variants.map((variant) => variant['const']) }
    : { anyOf: variants };
}

/** What has a default may be left out, whatever our own types say of it once it is checked. */
function withoutDefaults(names: readonly string[], properties: object = {}): JsonSchema {
  const defaulted = new Set(
    Object.entries(properties).flatMap(([name, property]) =>
      isObject(property) && 'default' in property ? [name] : [],
    ),
  );
  const required = names.filter((name) => !defaulted.has(name));
  return required.length === 0 ? {} : { required };
}

/** Translates declarations into schemas of one document and collects those that have a name. */
export class SchemaTranslator {
  readonly components: Record<string, JsonSchema> = {};
  readonly #names: ReadonlyMap<unknown, string>;
  readonly #picklist: (name: string) => readonly string[];

  /** `picklist` lists the names of a picklist's values. */
  constructor(modules: readonly object[], picklist: (name: string) => readonly string[]) {
    this.#names = exportedNames(modules);
    this.#picklist = picklist;
  }

  /** The name that a declaration was exported under. */
  nameOf(schema: object): string | undefined {
    return (
      this.#names.get(schema) ??
      (isNameable(schema) ? this.#names.get(contentOf(schema)) : undefined)
    );
  }

  /** Defines a component once and returns the reference to it. */
  define(name: string, make: () => JsonSchema): JsonSchema {
    if (!(name in this.components)) {
      // A schema that contains itself finds its name taken.
      this.components[name] = {};
      this.components[name] = make();
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The schema, or a reference to its component when it has a name. */
  translate(schema: object): JsonSchema {
    const { nullable, orNull: mayBeNull } = schema as Record<string, unknown>;
    const name = this.nameOf(schema);
    const translated =
      name === undefined
        ? this.#inline(schema)
        : this.define(name, () => this.#inline(schema, name));
    return nullable === true || mayBeNull === true ? orNull(translated) : translated;
  }

  #inline(schema: object, owner?: string): JsonSchema {
    // What is checked is looser than what makes sense: the document says what makes sense.
    const { documented } = schema as { readonly documented?: object };
    if (documented !== undefined) return this.translate(documented);
    const entries = Object.entries(schema).map(([name, value]) =>
      this.#keyword(name, value, schema as Record<string, unknown>, owner),
    );
    return Object.assign({}, ...entries) as JsonSchema;
  }

  #keyword(
    name: string,
    value: unknown,
    schema: Record<string, unknown>,
    owner: string | undefined,
  ): JsonSchema {
    if (sharedKeywords.has(name)) return { [name]: value };
    if (silentKeywords.has(name)) return {};
    switch (name) {
      case 'required':
        return withoutDefaults(value as string[], schema['properties'] as object | undefined);
      case 'properties':
      case 'patternProperties':
        return { [name]: this.#translateEach(value as Record<string, object>) };
      case 'items':
      case 'propertyNames':
      case 'additionalProperties':
        return { [name]: isObject(value) ? this.translate(value) : value };
      case 'anyOf':
        return unionOf(this.#translateAll(value as object[]));
      case 'oneOf':
        return isObject(schema['discriminator'])
          ? this.#variants(String(schema['discriminator']['propertyName']), value, owner)
          : { [name]: this.#translateAll(value as object[]) };
      case 'format':
        return { format: value === 'calendar-date' ? 'date' : value };
      default:
        return ownKeyword(name, value, this.#picklist);
    }
  }

  #translateAll(schemas: readonly object[]): JsonSchema[] {
    return schemas.map((schema) => this.translate(schema));
  }

  #translateEach(schemas: Readonly<Record<string, object>>): Record<string, JsonSchema> {
    return Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [name, this.translate(schema)]),
    );
  }

  /**
   * Each variant as a component: tools follow a discriminator only to components. One that was not
   * exported is called after the whole and the constant that tells it apart.
   */
  #variants(propertyName: string, value: unknown, owner: string | undefined): JsonSchema {
    const mapping: Record<string, string> = {};
    const oneOf = (value as Record<string, unknown>[]).map((variant) => {
      const properties = variant['properties'] as Record<string, { const?: unknown }>;
      const tag = String(properties[propertyName]?.const);
      const name = this.nameOf(variant) ?? (owner === undefined ? undefined : `${owner}_${tag}`);
      if (name === undefined) return this.#inline(variant);
      const reference = this.define(name, () => this.#inline(variant, name));
      mapping[tag] = String(reference['$ref']);
      return reference;
    });
    const isMapped = Object.keys(mapping).length === oneOf.length;
    return { oneOf, ...(isMapped ? { discriminator: { propertyName, mapping } } : {}) };
  }
}

/** What a keyword of `schemas/fields/keywords.ts` accepts, in words that every tool knows. */
function ownKeyword(
  name: string,
  value: unknown,
  picklist: (name: string) => readonly string[],
): JsonSchema {
  switch (name) {
    case 'decimal': {
      const { minimum, exclusiveMinimum } = value as DecimalRule;
      return {
        type: 'number',
        ...(minimum === undefined ? {} : { minimum: Number(minimum) }),
        ...(exclusiveMinimum === undefined ? {} : { exclusiveMinimum: Number(exclusiveMinimum) }),
      };
    }
    case 'picklist': {
      // Where ids are accepted too, the names are examples only.
      if (isObject(value))
        return { type: 'string', examples: [...picklist(String(value['name']))] };
      const values = picklist(String(value));
      return { type: 'string', ...(values.length === 0 ? {} : { enum: [...values] }) };
    }
    case 'currency':
      return { type: 'string', minLength: 1, examples: ['USD', 'Euro'] };
    case 'country':
      return { type: 'string', minLength: 1, examples: ['France', 'US', 'IND'] };
    case 'wholeNumber': {
      const { minimum } = value as { minimum: number };
      return { type: 'integer', minimum, maximum: wholeNumberMax };
    }
    case 'flag':
      return { type: 'boolean' };
    case 'requiredAny':
      return { anyOf: (value as string[]).map((property) => ({ required: [property] })) };
    case 'dateOrInstant':
      return { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] };
    default:
      throw new Error(`The OpenAPI document has no translation for the keyword '${name}'.`);
  }
}
