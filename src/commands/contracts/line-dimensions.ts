import type { Knex } from 'knex';
import { isCalendarDate } from '../../kernel/time/date.js';
import { canonicalJson } from '../../kernel/text/json.js';
import { Decimal, decimalText, parseDecimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Attribute } from '../../models/catalog/attribute.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { loadAttributes } from '../../queries/catalog/attribute.js';

/** Values of dimensions by name, as a request has them. */
export type DimensionValues = Readonly<Record<string, unknown>>;

/** The longest value of a dimension: that of an attribute's `dimensionValText`. */
const lengthMax = 255;

/** The text of a value; null where it is none. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value instanceof Decimal) return decimalText(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

const kinds: Readonly<Record<string, { readonly name: string; isOne(text: string): boolean }>> = {
  Number: { name: 'a number', isOne: (text) => parseDecimal(text) !== null },
  Boolean: { name: 'true or false', isOne: (text) => text === 'true' || text === 'false' },
  Date: { name: 'a date, YYYY-MM-DD', isOne: isCalendarDate },
};

/** 400: the value of a line's attribute is none of its type (docs/decisions/0315). */
export function requireTypedValue(
  attribute: {
    readonly dimensionDataType: string;
    readonly dimensionValText?: string | null | undefined;
  },
  at = '',
): void {
  const { dimensionDataType, dimensionValText: value = null } = attribute;
  const kind = kinds[dimensionDataType];
  if (value === null || !kind || kind.isOne(value)) return;
  const field = `${at}dimensionValText`;
  throw problem.validation(`'${field}' must be ${kind.name}, not '${value}'`, { field, value });
}

/** 400: the value is none of the attribute's type. */
function readValue({ name, dimensionDataType }: Attribute, value: unknown, at: string): string {
  const field = `${at}dimensionValues.${name}`;
  const text = textOf(value);
  const kind = kinds[dimensionDataType] ?? { name: 'a text', isOne: () => true };
  if (text === null || text.length > lengthMax || !kind.isOne(text)) {
    const limit = `of at most ${lengthMax} characters`;
    throw problem.validation(`'${field}' must be ${kind.name}, ${limit}`, { field });
  }
  return text;
}

/** The attributes that a line or its service has, by name. */
async function attributesByName(
  trx: Knex.Transaction,
  tenantId: string,
  { id, serviceId }: Pick<ContractService, 'id' | 'serviceId'>,
): Promise<ReadonlyMap<string, Attribute>> {
  const ofService = await loadAttributes(trx, tenantId, { serviceId });
  const own = await loadAttributes(trx, tenantId, { contractServiceId: id });
  return new Map([...ofService, ...own].map((attribute) => [attribute.name, attribute]));
}

/**
 * Writes the values of dimensions onto the attributes of a line. A name may be that of any attribute
 * of the line or of its service. 400: it is none, or the value is not of its type.
 */
export async function setDimensionValues(
  trx: Knex.Transaction,
  tenantId: string,
  line: Pick<ContractService, 'id' | 'serviceId'>,
  values: DimensionValues,
): Promise<void> {
  const byName = await attributesByName(trx, tenantId, line);
  const texts = Object.entries(values).map(([name, value]) => {
    const attribute = byName.get(name);
    if (!attribute) {
      const field = `dimensionValues.${name.slice(0, lengthMax)}`;
      throw problem.validation(`'${field}' names no dimension of the service`, { field });
    }
    return [name, readValue(attribute, value, '')] as const;
  });
  await ContractService.setDimensionTexts(trx, tenantId, line.id, Object.fromEntries(texts));
}

interface KnownDimensions {
  /**
   * The values in the request, by name; null clears them all, undefined leaves the stored ones
   * alone.
   */
  readonly values: DimensionValues | null | undefined;
  /** The attributes that the same request gives. */
  readonly attributes?:
    | readonly { readonly name: string; readonly dimensionValText?: string | null }[]
    | null
    | undefined;
  /** The stored values of the line. */
  readonly former?: DimensionValues | null | undefined;
  /** Where the line is in the request, for messages. */
  readonly at: string;
}

/** The attribute texts to write for `dimensionValues`; null clears the value of an attribute. */
function textsOf(
  byName: ReadonlyMap<string, Attribute>,
  { values, attributes, former, at }: KnownDimensions,
): Map<string, string | null> {
  const texts = new Map<string, string | null>();
  const sent = new Map(attributes?.map(({ name, dimensionValText }) => [name, dimensionValText]));
  // A line that was read and sent back unchanged must not overwrite its attributes, which may have
  // more values.
  if (values === undefined || canonicalJson(values) === canonicalJson(former ?? null)) {
    for (const [name, value] of Object.entries(attributes ? (former ?? {}) : {})) {
      if (byName.has(name) && sent.get(name) === undefined) texts.set(name, textOf(value));
    }
    return texts;
  }
  for (const [name, value] of Object.entries(former ?? {})) {
    if (byName.get(name)?.dimensionValText === textOf(value)) texts.set(name, null);
  }
  for (const [name, value] of Object.entries(values ?? {})) {
    const attribute = byName.get(name);
    if (!attribute) continue;
    const text = readValue(attribute, value, at);
    const other = sent.get(name) ?? text;
    if (other !== text) {
      const field = `${at}dimensionValues.${name}`;
      const message = `'${field}' is '${text}', and dimensionValText of the attribute '${other}': send one of them`;
      throw problem.validation(message, { field, value: text });
    }
    texts.set(name, text);
  }
  return texts;
}

/**
 * Writes the dimension values that a request of the resource API has for a line onto its
 * attributes, and clears those that an earlier request set and this one lacks. A name without an
 * attribute is stored as sent. 400: a value does not fit its attribute's type, or the request sends
 * the attribute with another value.
 */
export async function setKnownDimensionValues(
  trx: Knex.Transaction,
  tenantId: string,
  line: Pick<ContractService, 'id' | 'serviceId'>,
  change: KnownDimensions,
): Promise<void> {
  if (!change.values && !change.former) return;
  const texts = textsOf(await attributesByName(trx, tenantId, line), change);
  if (texts.size === 0) return;
  await ContractService.addDimensionTexts(trx, tenantId, line.id, Object.fromEntries(texts));
}
