/** A schema as it is declared: JSON Schema with the keywords of `schemas/fields/keywords.ts`. */
export type Schema = Readonly<Record<string, unknown>>;

/** One property of a body, at any depth, and what is declared for it. */
export interface Place {
  /** The steps to it: property names, and `0` for the first item of an array. */
  readonly path: readonly string[];
  readonly name: string;
  readonly schema: Schema;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The variant of a `oneOf` that a value belongs to. */
function variantOf(schema: Schema, value: Record<string, unknown>): Schema {
  const { discriminator, oneOf } = schema as {
    discriminator?: { propertyName: string };
    oneOf?: readonly { properties: Record<string, { const?: unknown }> }[];
  };
  const tag = discriminator?.propertyName;
  if (tag === undefined || !oneOf) return schema;
  return oneOf.find(({ properties }) => properties[tag]?.const === value[tag]) ?? schema;
}

/** Every property that the objects of a body may have, whether this body has it or not. */
export function placesIn(
  schema: Schema,
  value: unknown,
  path: readonly string[] = [],
): readonly Place[] {
  if (Array.isArray(value)) {
    const items = schema['items'] as Schema | undefined;
    return items && value.length > 0 ? placesIn(items, value[0], [...path, '0']) : [];
  }
  if (!isObject(value)) return [];
  const properties = (variantOf(schema, value)['properties'] ?? {}) as Record<string, Schema>;
  return Object.entries(properties).flatMap(([name, property]) => [
    { path: [...path, name], name, schema: property },
    ...placesIn(property, value[name], [...path, name]),
  ]);
}

/** The objects of a body that take no other properties than those declared: the steps to each. */
export function closedObjectsIn(
  schema: Schema,
  value: unknown,
  path: readonly string[] = [],
): readonly (readonly string[])[] {
  if (Array.isArray(value)) {
    const items = schema['items'] as Schema | undefined;
    return items && value.length > 0 ? closedObjectsIn(items, value[0], [...path, '0']) : [];
  }
  if (!isObject(value)) return [];
  const variant = variantOf(schema, value);
  const properties = (variant['properties'] ?? {}) as Record<string, Schema>;
  return [
    ...(variant['additionalProperties'] === false ? [path] : []),
    ...Object.entries(properties).flatMap(([name, property]) =>
      closedObjectsIn(property, value[name], [...path, name]),
    ),
  ];
}

/** A copy of the body with another value at one place. */
export function changed(body: object, path: readonly string[], value: unknown): object {
  const copy = structuredClone(body);
  let owner = copy as Record<string, unknown>;
  for (const step of path.slice(0, -1)) owner = owner[step] as Record<string, unknown>;
  owner[path.at(-1) ?? ''] = value;
  return copy;
}

/** The types of JSON that a place takes; none when it takes them all. */
export function typesOf(schema: Schema): readonly string[] {
  const { type, nullable, orNull } = schema;
  const ownType =
    'decimal' in schema
      ? ['number']
      : ['picklist', 'currency', 'country'].some((keyword) => keyword in schema)
        ? ['string']
        : type === undefined
          ? []
          : ([type].flat() as string[]).map((one) => (one === 'integer' ? 'number' : one));
  const mayBeNull = nullable === true || orNull === true;
  return ownType.length > 0 && mayBeNull ? [...ownType, 'null'] : ownType;
}
