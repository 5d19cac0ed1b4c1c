import { _, Name, type KeywordCxt } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';

/**
 * From so many faults on, a check looks no further: ten are told, and some of those that are found are
 * not (a failed variant, a field that is ignored).
 */
const faultsFoundMax = 50;

/** Unknown properties of an object that are looked at: as many as are told. */
const unknownMax = 10;

/** What ajv calls the faults so far, and their number, in the functions that it generates. */
const faults = new Name('vErrors');
const faultCount = new Name('errors');

/** Ends the generated function with the faults that it has. */
function stop({ gen, it }: KeywordCxt): void {
  gen.code(_`${it.validateName}.errors = ${faults}; return false`);
}

/**
 * Takes away what clients may send back and what is ignored (see `writeBody`), and of what is not known
 * all but the first: it would be a fault each.
 */
function dropProperties(
  data: Record<string, unknown>,
  known: Readonly<Record<string, unknown>>,
  ignored: readonly string[],
): void {
  let unknown = 0;
  for (const name of Object.keys(data)) {
    if (Object.hasOwn(known, name)) continue;
    if (!ignored.includes(name)) unknown += 1;
    if (ignored.includes(name) || unknown > unknownMax) Reflect.deleteProperty(data, name);
  }
}

/**
 * Bounds what a check of a body costs that has faults everywhere (docs/decisions/0262): objects are not
 * looked at any more when there are enough faults, nor the items of an array that has too many.
 */
export function limitFaults(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword: 'ignored',
    type: 'object',
    schemaType: 'array',
    before: 'additionalProperties',
    code: (cxt) => {
      const { gen, data, schemaValue, parentSchema } = cxt;
      gen.if(_`${faultCount} >= ${faultsFoundMax}`, () => {
        stop(cxt);
      });
      const drop = gen.scopeValue('func', { ref: dropProperties });
      const known = gen.scopeValue('schema', { ref: parentSchema['properties'] as object });
      gen.code(_`${drop}(${data}, ${known}, ${schemaValue})`);
    },
  });
  ajv.removeKeyword('maxItems');
  ajv.addKeyword({
    keyword: 'maxItems',
    type: 'array',
    schemaType: 'number',
    before: 'items',
    error: {
      message: 'must NOT have more items',
      params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
    },
    code: (cxt) => {
      cxt.gen.if(_`${cxt.data}.length > ${cxt.schemaCode}`, () => {
        cxt.error();
        stop(cxt);
      });
    },
  });
}
