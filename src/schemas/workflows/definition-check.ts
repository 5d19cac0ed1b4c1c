import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { Type, type TSchema } from 'typebox';
import { pointerPart, type Fault } from '../../kernel/expression/json-schema-check.js';
import type { TaskKind } from '../../messages/definitions/definition.js';
import { faultMessage } from '../http/fault-message.js';
import { callForm } from './call.js';
import { closed } from './definition-part.js';
import { Head, shallowList, taskForms, taskName } from './definition.js';

const ajv = new Ajv2020({ allErrors: true, strict: false });
const $defs = { taskList: shallowList };
const checks = new Map<string, ValidateFunction>();
const checkOf = (part: string, form: object): ValidateFunction => {
  const known = checks.get(part);
  if (known) return known;
  const check = ajv.compile({ ...form, $defs });
  checks.set(part, check);
  return check;
};
const forms = new Map<string, TSchema>(taskForms);

const knownNames = (error: ErrorObject): string =>
  Object.keys((error.parentSchema?.['properties'] ?? {}) as object).join(', ');

function faultOf(error: ErrorObject, pointer: string): Fault {
  const place = pointer + error.instancePath;
  const { missingProperty: missing, additionalProperty: extra } = error.params as {
    missingProperty?: string;
    additionalProperty?: string;
  };
  if (missing !== undefined) {
    return { pointer: place + pointerPart(missing), message: `'${missing}' is required` };
  }
  if (extra !== undefined) {
    const message = `'${extra}' is not a known property. Known are: ${knownNames(error)}.`;
    return { pointer: place + pointerPart(extra), message };
  }
  const { allowedValues, allowedValue } = error.params as {
    allowedValues?: readonly unknown[];
    allowedValue?: unknown;
  };
  if (allowedValues)
    return { pointer: place, message: `must be one of: ${allowedValues.join(', ')}` };
  if (allowedValue !== undefined) {
    return { pointer: place, message: `must be ${JSON.stringify(allowedValue)}` };
  }
  if (error.keyword === 'pattern' || error.keyword === 'anyOf') {
    const { description } = (error.parentSchema ?? {}) as { description?: string };
    if (description !== undefined)
      return { pointer: place, message: `is not valid: ${description}` };
  }
  return { pointer: place, message: faultMessage(error) };
}

/** A property whose forms were tried one after the other has one fault, not one of each form. */
function faultsWith(check: ValidateFunction, value: unknown, pointer: string): Fault[] {
  if (check(value)) return [];
  const errors = (check.errors ?? []).filter(({ schemaPath }) => !schemaPath.includes('/anyOf/'));
  return errors.map((error) => faultOf(error, pointer));
}

// Ajv needs a schema's parent to name what is known.
ajv.opts.verbose = true;

const HeadAlone = Type.Object({ ...Head.properties, do: Type.Unknown() }, closed);

/** Faults of a definition beside those of its tasks. */
export const headFaults = (definition: unknown): Fault[] =>
  faultsWith(checkOf('head', HeadAlone), definition, '');

/** Faults of what a call is given. */
export const callFaults = (call: string, given: unknown, pointer: string): Fault[] =>
  faultsWith(checkOf(`with ${call}`, callForm(call)), given, pointer);

/** Faults of a list of tasks itself. */
export const listFaults = (list: unknown, pointer: string): Fault[] =>
  faultsWith(checkOf('list', shallowList), list, pointer);

/** Faults of a task of this kind beside those of the tasks in it. */
export const taskFaults = (kind: TaskKind, task: unknown, pointer: string): Fault[] =>
  faultsWith(checkOf(kind, forms.get(kind) ?? {}), task, pointer);

export const taskNameForm = new RegExp(taskName);
