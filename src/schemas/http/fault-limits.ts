import { _, Name, type KeywordCxt } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';

/**
 * Number of faults after which validation stops: ten are shown, and some found ones are not faults
 * in the end (a failed variant, a field that is ignored).
 */
const faultsFoundMax = 50;

/** Maximum unknown properties of an object that are checked: as many as are shown. */
const unknownMax = 10;

/** The variable of ajv's generated functions that holds the faults found so far. */
const faults = new Name('vErrors');
const faultCount = new Name('errors');

/** Makes the generated function return with the faults found so far. */
function stopValidating({ gen, it }: KeywordCxt): void {
  gen.code(_`${it.validateName}.errors = ${faults}; return false`);
}

/**
 * Removes properties that clients may send back and that are ignored (see `writeBody`), and all
 * unknown ones but the first: each would be a fault.
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
 * Limits the cost of validating a body with faults everywhere (docs/decisions/0262): once there are
 * enough faults, objects are skipped, and so are the items of an array that has too many.
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
        stopValidating(cxt);
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
        stopValidating(cxt);
      });
    },
  });
}
