import { _, Name, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { alwaysValidSchema, Type } from 'ajv/dist/compile/util.js';

/**
 * Number of faults after which validation stops: ten are shown, and some found ones are not faults
 * in the end (a failed variant, a field that is ignored).
 */
const faultsFoundMax = 50;

/**
 * Number of faults in the items of one array after which no further item is looked at. What those are that
 * are told is chosen among all, and adding one to the others takes as long as there are others.
 */
const faultsOfItemsMax = 1_000;

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
 * Validates the items of an array until it has enough faults. They count from its own first item: a form of
 * several that others have failed before is looked through all the same.
 */
function validateItems(cxt: KeywordCxt): void {
  const { gen, data, it } = cxt;
  it.items = true;
  if (alwaysValidSchema(it, cxt.schema as object)) return;
  const valid = gen.let('valid', true);
  const before = gen.const('before', faultCount);
  const length = gen.const('length', _`${data}.length`);
  gen.forRange('i', 0, length, (i) => {
    const isItemValid = gen.name('valid');
    cxt.subschema({ keyword: 'items', dataProp: i, dataPropType: Type.Num }, isItemValid);
    gen.if(_`!${isItemValid}`, () => gen.assign(valid, false));
    gen.if(_`${faultCount} - ${before} >= ${faultsOfItemsMax}`, () => gen.break());
  });
  cxt.ok(valid);
}

/**
 * Limits the cost of validating a body with faults everywhere (docs/decisions/0262): once there are
 * enough faults, objects are skipped, and so are the items of an array that has too many of either.
 */
export function limitFaults(ajv: Ajv2020): void {
  const items = ajv.getKeyword('items') as CodeKeywordDefinition;
  ajv.removeKeyword('items');
  ajv.addKeyword({ ...items, code: validateItems });
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
