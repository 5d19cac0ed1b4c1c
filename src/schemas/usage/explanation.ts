import { Type, type Static, type TSchema } from 'typebox';
import { frequencies } from '../../kernel/time/period.js';
import { aggregations, type Explanation as Written } from '../../rating/index.js';
import { DateText, nullable, Uuid } from '../fields/field.js';

/** The same, nothing of which can be written; `Stated`: with all that may be left out. */
type Unwritable<T> = T extends object ? { readonly [K in keyof T]: Unwritable<T[K]> } : T;
type Stated<T> = T extends object ? { readonly [K in keyof T]-?: Stated<T[K]> } : T;
type Both<A, B> = [A] extends [B] ? ([B] extends [A] ? unknown : never) : never;

/** What is no schema of `W` does not compile: rating writes it, here it is described. */
type Describes<S extends TSchema, W> = Both<Unwritable<Static<S>>, W> &
  Both<Stated<Static<S>>, Stated<W>>;

const describing =
  <W>() =>
  <S extends TSchema>(schema: S & Describes<S, W>) =>
    Type.Unsafe<W>(schema);

const oneOf = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: values, description });

const text = (description: string) => Type.String({ description });
const exact = (description: string) =>
  Type.String({ description: `${description} Exact decimal text.` });

export const ExplainedLine = Type.Object(
  {
    id: Uuid('Id of the contract line.'),
    contractId: Uuid('Its contract.'),
    contractNumber: text('Number of the contract.'),
    serviceInstanceId: nullable(text('The instance of the service.')),
  },
  { description: 'The contract line that a charge was rated under.' },
);

export const ExplainedCard = Type.Object(
  {
    id: Uuid('Id of the version.'),
    source: oneOf(['exception', 'catalog'], 'Whether it is of the contract line or the catalog.'),
    currency: text('ISO code.'),
    versionNo: Type.Integer({ description: 'Number of the version.' }),
    fromDate: DateText('First day of the version.'),
    note: Type.Optional(text('Where the usage is older than the first version, says so.')),
  },
  { description: 'The version of the card that was in force.' },
);

export const ExplainedShare = Type.Object(
  {
    part: text('Which part it is: "1 of 3".'),
    from: exact('Where the part begins.'),
    to: exact('Where it ends.'),
    of: exact('What the parts add up to.'),
    whole: exact('The amount of the whole.'),
  },
  { description: 'What an account bears of a whole that several bear.' },
);

export const ExplainedCounter = Type.Object(
  {
    ownerType: oneOf(['line', 'account'], 'Whether it counts for a contract line or an account.'),
    ownerId: Uuid('That contract line or account.'),
    serviceId: Uuid('The service.'),
    attributeName: text('The attribute that it counts.'),
    frequency: oneOf([...frequencies, 'none'] as const, 'How often it starts again at zero.'),
    periodStart: DateText('First day of its period.'),
    periodEnd: DateText('The first day after it.'),
    before: exact('Where it was.'),
    after: exact('Where the usage took it.'),
  },
  { description: 'The counter that decides the tier.' },
);

export const ExplainedTier = Type.Object(
  {
    tierNum: Type.Integer({ description: 'Number of the tier.' }),
    from: exact('The stretch begins above.'),
    to: exact('Its end, inclusive.'),
    volume: exact('How much of the usage lies in it.'),
    unitRate: exact('Price of each unit.'),
    isFlat: Type.Boolean({ description: 'Whether it costs once, whatever the volume.' }),
    amount: exact('What it costs.'),
  },
  { description: 'The stretch of the volume that a tier has priced.' },
);

export const ExplainedRow = Type.Object(
  {
    row: Type.Object(
      {
        id: Uuid('Id of the row.'),
        label: text('Its label.'),
        attributeName: text('The attribute that it prices.'),
        priceMethod: text('Its price method.'),
        rates: Type.Unknown({ description: 'What the price method is given, by method.' }),
      },
      { description: 'The row of the card.' },
    ),
    matched: Type.Array(
      Type.Object(
        { name: text('The attribute.'), value: text('Its value.') },
        { description: 'A value that the event has.' },
      ),
      { description: 'The attribute values of the row, all of which the event has.' },
    ),
    quantity: exact('How much was priced.'),
    quantityFrom: oneOf(
      ['dimension', 'message.quantity', 'default', 'formula'],
      'Where that comes from.',
    ),
    step: nullable(text('The formula step that asked for this price.')),
    counter: nullable(ExplainedCounter),
    aggregation: Type.Optional(oneOf(aggregations, 'How the counter counts, where it is no sum.')),
    tiers: Type.Array(ExplainedTier, {
      description: 'The stretches (from, to] of the volume; empty where the method has none.',
    }),
    packages: Type.Optional(
      Type.Object(
        {
          size: exact('Units of a package.'),
          before: exact('How many were begun before.'),
          after: exact('How many with it.'),
        },
        { description: 'Of packages: how many were begun.' },
      ),
    ),
    rate: exact('Price of each unit; of tiers the average.'),
    amount: exact('What it costs, before any rounding.'),
  },
  { description: 'A row of the card, and what it made of the usage.' },
);

export const ExplainedStep = Type.Object(
  {
    logic: text('The pricing logic.'),
    name: text('The step.'),
    label: nullable(text('What people call it.')),
    formula: text('Its formula.'),
    value: text('What came out.'),
  },
  { description: 'A step of a formula.' },
);

export const ExplainedDiscount = Type.Object(
  {
    adjustmentId: Uuid('The adjustment.'),
    kind: oneOf(['discountPercent', 'discountAmount'], 'What is taken off.'),
    value: exact('Percent, or the amount.'),
    before: exact('The price before it.'),
    after: exact('The price after it.'),
  },
  { description: 'A discount of a charge.' },
);

export const ExplainedTotal = Type.Object(
  {
    method: oneOf(['sum of rows', 'sum of pricing logic'], 'What the parts are of.'),
    parts: Type.Array(
      Type.Object(
        {
          name: text('Label of a row, or the pricing logic and its output.'),
          amount: exact('Its amount.'),
        },
        { description: 'A part of the total.' },
      ),
      { description: 'What it is the sum of, before discounts.' },
    ),
    amount: exact('The sum of the parts less discounts, to 10 decimal places.'),
    currency: text('ISO code.'),
  },
  { description: 'What a charge comes to.' },
);

export const ExplainedCredit = Type.Object(
  {
    walletId: Uuid('The wallet.'),
    grantId: Uuid('The grant.'),
    externalId: text("The grant's externalId."),
    kind: oneOf(['purchased', 'promotional'], 'What was granted.'),
    amount: exact('What it has paid.'),
  },
  { description: 'What a grant of a wallet has paid of a charge.' },
);

/** How one charge came about, as `rating/explain-charge.ts` writes it. */
export const Explanation = describing<Written>()(
  Type.Object(
    {
      date: DateText('Day of the usage.'),
      service: Type.Object(
        {
          id: Uuid('Id of the service.'),
          name: text('Its name.'),
          code: nullable(text('Its code.')),
        },
        { description: 'The service.' },
      ),
      contractLine: nullable(ExplainedLine),
      card: ExplainedCard,
      usageType: oneOf(['Charge', 'Payout'], 'Charge or Payout.'),
      billedAccountId: Uuid('The account that pays it.'),
      share: Type.Optional(ExplainedShare),
      rows: Type.Array(ExplainedRow, { description: 'What each row of the card has priced.' }),
      steps: Type.Array(ExplainedStep, {
        description:
          'Every formula step in the order in which it ran; empty without pricing logic.',
      }),
      adjustments: Type.Optional(
        Type.Array(ExplainedDiscount, { description: 'Discounts in their order.' }),
      ),
      total: ExplainedTotal,
      credits: Type.Optional(
        Type.Array(ExplainedCredit, { description: 'The grants that paid it.' }),
      ),
      leftOut: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: 'Rows and steps that are missing: an explanation has at most 1 MiB.',
        }),
      ),
    },
    {
      description:
        'How a charge came about: contract line, card version, rows with tiers and counters, formula steps, discounts, total, grants.',
    },
  ),
);
