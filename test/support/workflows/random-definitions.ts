import fc from 'fast-check';

export type Json = Readonly<Record<string, unknown>>;

const value = fc.constantFrom(
  '${ workflow.input.n }',
  '${ workflow.input.list.map(x, x + 1) }',
  '${ has(context.kept) ? context.kept : 0 }',
  '${ workflow.input.list[7] }',
  7,
  'text',
);
const condition = fc.constantFrom(
  '${ workflow.input.n > 1 }',
  '${ workflow.input.list.size() == 0 }',
  '${ !has(context.kept) }',
);
const raise = { raise: { error: { type: 'urn:no', status: 422 } } };

/** Tasks as a list of a definition. */
const named = (all: readonly Json[]): Json[] => all.map((each, index) => ({ [`t${index}`]: each }));
const listOf = (some: fc.Arbitrary<Json>[]): fc.Arbitrary<Json[]> =>
  fc.array(fc.oneof(...some), { minLength: 1, maxLength: 3 }).map(named);

export interface RandomTasks {
  /** Whether branches race, and fail beside each other. */
  readonly races: boolean;
  readonly call: Json;
  /** A call that is taken back by `undo`; left out: as the others. */
  readonly made?: Json;
  readonly undo: Json;
  readonly waitMaxMs: number;
  /** Between attempts of `try`. */
  readonly delay: Json;
}

/** Tasks, in lists up to some depth. */
export function tasksOf(depth: number, of: RandomTasks): fc.Arbitrary<Json[]> {
  const { races, delay } = of;
  const call = fc.constant(of.call);
  const millis = fc.integer({ min: 1, max: of.waitMaxMs });
  const leaves: fc.Arbitrary<Json>[] = [
    value.map((of) => ({ set: { of } })),
    value.map((kept) => ({ set: { n: 1 }, export: { as: { kept } } })),
    fc.constant({ ...(of.made ?? of.call), 'durabill.undo': of.undo }),
    call,
    millis.map((milliseconds) => ({ wait: { milliseconds } })),
    fc.constant(raise),
  ];
  // A branch that fails ends the others wherever they stand.
  const safe = [
    fc.constant({ set: { of: '${ workflow.input.n }' } }),
    call,
    millis.map((milliseconds) => ({ wait: { milliseconds } })),
  ];
  const calm = fc
    .array(
      fc.oneof(
        ...safe,
        listOf(safe).map((of) => ({ do: of })),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map(named);
  const inner = depth === 0 ? undefined : tasksOf(depth - 1, of);
  const blocks: fc.Arbitrary<Json>[] = inner
    ? [
        inner.map((of) => ({ do: of })),
        fc.tuple(inner, fc.option(condition, { nil: undefined })).map(([of, go]) => ({
          for: { in: '${ workflow.input.list }' },
          ...(go === undefined ? {} : { while: go }),
          do: of,
        })),
        fc
          .tuple(races ? inner : calm, races ? fc.boolean() : fc.constant(false))
          .map(([of, compete]) => ({ fork: { compete, branches: of } })),
        fc.tuple(inner, inner, fc.boolean()).map(([of, handler, isTriedAgain]) => ({
          try: of,
          catch: {
            ...(isTriedAgain ? { retry: { delay, limit: { attempt: { count: 2 } } } } : {}),
            do: handler,
          },
        })),
      ]
    : [];
  const task = fc
    .tuple(fc.oneof(...leaves, ...blocks), fc.option(condition, { nil: undefined, freq: 4 }))
    .map(([of, only]): Json => (only === undefined ? of : { if: only, ...of }));
  return fc.array(task, { minLength: 1, maxLength: 4 }).map(named);
}
