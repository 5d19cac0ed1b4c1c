import type { Knex } from 'knex';
import { isCalendarDate } from '../kernel/date.js';
import { Decimal, decimalText, parseDecimal } from '../kernel/money.js';
import { problem } from '../kernel/problem.js';
import type { Attribute } from '../models/attribute.js';
import { ContractService } from '../models/contract-service.js';
import { loadAttributes } from '../queries/attribute.js';

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

/** 400: the value is none of the attribute's type. */
function readValue({ name, dimensionDataType }: Attribute, value: unknown): string {
  const field = `dimensionValues.${name}`;
  const text = textOf(value);
  const kind = kinds[dimensionDataType] ?? { name: 'a text', isOne: () => true };
  if (text === null || text.length > lengthMax || !kind.isOne(text)) {
    const limit = `of at most ${lengthMax} characters`;
    throw problem.validation(`'${field}' must be ${kind.name}, ${limit}`, { field });
  }
  return text;
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
  const ofService = await loadAttributes(trx, tenantId, { serviceId: line.serviceId });
  const own = await loadAttributes(trx, tenantId, { contractServiceId: line.id });
  const byName = new Map([...ofService, ...own].map((attribute) => [attribute.name, attribute]));
  const texts = Object.entries(values).map(([name, value]) => {
    const attribute = byName.get(name);
    if (!attribute) {
      const field = `dimensionValues.${name.slice(0, lengthMax)}`;
      throw problem.validation(`'${field}' names no dimension of the service`, { field });
    }
    return [name, readValue(attribute, value)] as const;
  });
  await ContractService.setDimensionTexts(trx, tenantId, line.id, Object.fromEntries(texts));
}
