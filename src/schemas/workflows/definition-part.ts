import { Type } from 'typebox';
import { isObject } from '../../kernel/expression/json-schema-check.js';

/** Parts of the form of a definition that several of its places have. */
export const closed = { additionalProperties: false } as const;

const expression = '^\\s*\\$\\{[\\s\\S]*\\}\\s*$';
export const Condition = (description: string) =>
  Type.String({ description: `${description} An expression, \${ ... }.`, pattern: expression });
export const Value = (description: string) => Type.Unknown({ description });

const parts = ['days', 'hours', 'minutes', 'seconds', 'milliseconds'];
export const Duration = (description: string) =>
  Type.Unsafe<unknown>({
    description: `${description} ISO 8601 such as PT1H, or its parts.`,
    anyOf: [
      {
        type: 'string',
        pattern: '^P(?=.)(\\d+D)?(T(?=.)(\\d+H)?(\\d+M)?(\\d+(\\.\\d{1,3})?S)?)?$',
      },
      {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        properties: Object.fromEntries(
          parts.map((part) => [part, { type: 'integer', minimum: 0, maximum: 9_999_999 }]),
        ),
      },
    ],
  });

/** A value of one form, or an expression that gives it. */
export const OrExpression = (form: object, description: string) =>
  Type.Unsafe<unknown>({
    description: `${description} Or an expression, \${ ... }.`,
    anyOf: [form, { type: 'string', pattern: expression }],
  });

/**
 * A form as editors are shown it: with `published`, for which the check of a definition has words of its
 * own, and goes on behind it.
 */
export function publish(form: unknown): unknown {
  if (Array.isArray(form)) return form.map(publish);
  if (!isObject(form)) return form;
  const { published, ...rest } = form;
  const all = { ...rest, ...(isObject(published) ? published : {}) };
  return Object.fromEntries(Object.entries(all).map(([name, one]) => [name, publish(one)]));
}
