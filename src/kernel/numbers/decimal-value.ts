import { Type, type TUnsafe } from 'typebox';
import { defined } from '../../kernel/defined.js';
import type { Decimal } from './money.js';

export interface DecimalRule {
  /** Smallest allowed value, as decimal text. */
  readonly minimum?: string;
  /** What a value must be larger than, as decimal text. */
  readonly exclusiveMinimum?: string;
}

/**
 * An exact decimal: a JSON number on the wire, a `Decimal` after validation
 * (spec/resources.md R25). The keyword `decimal` is defined by
 * `schemas/fields/validator.ts`; the OpenAPI document shows `type: number`.
 */
export function DecimalValue(options: { description: string } & DecimalRule): TUnsafe<Decimal> {
  const { minimum, exclusiveMinimum, ...annotations } = options;
  const rule: DecimalRule = defined({ minimum, exclusiveMinimum });
  return Type.Unsafe<Decimal>({ ...annotations, decimal: rule });
}
