import { Type, type Static, type TObject, type TSchema, type TUnsafe } from 'typebox';
import { Picklist } from '../../kernel/picklist-field.js';
import { priceMethods, type PriceMethodName } from '../../rating/index.js';
import { examples } from '../openapi/examples.js';
import {
  CurrencyCode,
  DateText,
  FreeText,
  nullable,
  oneOfBy,
  optional,
  Text,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';

const AttributeValue = Type.Object(
  {
    attributeName: Text('Name of a dimension of the event.'),
    attributeValue: Type.String({ maxLength: 255, description: 'The value it must have.' }),
  },
  { additionalProperties: false, description: 'A condition on the event.' },
);

/** What a row prices. */
const RowKeys = {
  priceDimId: optional(Uuid('The priceable attribute that the row prices, by id.')),
  priceDimName: optional(Text('The priceable attribute that the row prices, by name.')),
  label: Text('What an invoice calls the charge.'),
};
/** What stands after its price. */
const RowDetails = {
  attributeValues: optional(
    Type.Array(AttributeValue, {
      maxItems: 100,
      description: 'All must hold for the row to be chosen.',
    }),
  ),
  usageType: optional(Picklist('usageType', { description: 'Charge (default) or Payout.' })),
  taxCode: optional(Text('Tax code.', 64)),
  billingAccountId: optional(RecordId('account', "Account to bill in place of the event's.")),
  description: optional(FreeText('Longer description.')),
  dynamicDescription: optional(FreeText('Description that is filled in when it is invoiced.')),
};

interface SchemaNode extends TSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
}

/**
 * The schema of a rate as a request may hold it: response-only fields are ignored in the objects
 * inside it too, and optional fields may be null.
 */
function writable(schema: TSchema): TSchema {
  const { type, items, properties, required = [], description } = schema as SchemaNode;
  if (type === 'array' && items) return { ...schema, items: writable(items) };
  if (type !== 'object' || !properties) return schema;
  return writeBody(
    Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        required.includes(name) ? writable(property) : optional(writable(property)),
      ]),
    ),
    description === undefined ? {} : { description },
  );
}

/** The part of a row that all price methods share; the rate fields follow from `priceMethods`. */
type CommonRow = TObject<
  typeof RowKeys & typeof RowDetails & { priceMethod: TUnsafe<PriceMethodName> }
>;

const PriceMethod = (name: PriceMethodName) =>
  Type.Literal(name, { description: 'How it is priced; its rate fields follow from this.' });

const rowVariants = priceMethods.map(({ name, rates }) => {
  const { properties } = writable(rates) as TObject;
  return writeBody(
    { ...RowKeys, priceMethod: PriceMethod(name), ...properties, ...RowDetails },
    { requiredAny: ['priceDimId', 'priceDimName'] },
  );
}) as unknown as readonly CommonRow[];

/**
 * A row in a request. Its rate fields are those of its price method, and no others
 * (spec/resources.md R47); which they are is known from `findPriceMethod(row.priceMethod).rates`.
 */
export const RateCardRowWrite = oneOfBy('priceMethod', rowVariants, {
  description: 'A row; its rate fields depend on priceMethod.',
});
export type RateCardRowWrite = Static<CommonRow>;

export const RateCardWrite = writeBody(
  {
    currency: CurrencyCode('Currency of the card, by code or name.'),
    rows: Type.Array(RateCardRowWrite, {
      minItems: 1,
      maxItems: 10_000,
      description: 'Its rows, in the order in which ties are settled.',
    }),
    fromDate: optional(
      DateText(
        'In a PUT that of the version in force, or left out: a PUT does not change when prices begin, ' +
          'a POST to .../versions does. Else without effect.',
      ),
    ),
  },
  { description: 'The prices in one currency.', ignore: ['warnings', 'affectedEvents'] },
);
export type RateCardWrite = Static<typeof RateCardWrite>;

/** A card that begins on a day of its own (spec/beyond.md R60). */
export const RateCardVersionWrite = writeBody(
  {
    ...RateCardWrite.properties,
    fromDate: DateText('First day of the version: past, today or to come, and taken by no other.'),
  },
  {
    description: 'The prices in one currency from a day on.',
    ignore: ['warnings', 'affectedEvents'],
  },
);

const RowResponseKeys = {
  id: Uuid('Id of the row.'),
  priceDimId: Uuid('The priceable attribute that the row prices.'),
  label: Type.String({ description: 'What an invoice calls the charge.' }),
};
const RowResponseDetails = {
  attributeValues: Type.Array(AttributeValue, {
    description: 'All must hold for the row to be chosen.',
  }),
  usageType: Type.String({ description: 'Charge or Payout.' }),
  taxCode: nullable(Type.String({ description: 'Tax code.' })),
  billingAccountId: nullable(Uuid("Account to bill in place of the event's.")),
  description: nullable(Type.String({ description: 'Longer description.' })),
  dynamicDescription: nullable(
    Type.String({ description: 'Description that is filled in when it is invoiced.' }),
  ),
};

type CommonRowResponse = TObject<
  typeof RowResponseKeys & typeof RowResponseDetails & { priceMethod: TUnsafe<PriceMethodName> }
>;

export const RateCardRow = oneOfBy(
  'priceMethod',
  priceMethods.map(({ name, rates }) =>
    Type.Object({
      ...RowResponseKeys,
      priceMethod: PriceMethod(name),
      ...rates.properties,
      ...RowResponseDetails,
    }),
  ) as unknown as readonly CommonRowResponse[],
  { description: 'A row; its rate fields depend on priceMethod.' },
);

export const RateCard = Type.Object(
  {
    currency: Type.String({ description: 'ISO code of its currency.' }),
    versionNo: Type.Integer({ description: 'Version, in the order in which they were made.' }),
    isCurrent: Type.Boolean({ description: 'Whether it is in force today.' }),
    fromDate: DateText(
      'First day of the version; the earliest one holds for all days before, too.',
    ),
    toDate: Type.Optional(DateText('Last day of a version that another one follows.')),
    rows: Type.Array(RateCardRow, { description: 'Its rows.' }),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'In the answer to a write: what will go wrong with these prices, if anything.',
      }),
    ),
  },
  { description: 'One version of the prices in one currency.' },
);

export const RateCardVersion = Type.Object(
  {
    ...RateCard.properties,
    affectedEvents: nullable(
      Type.Integer({
        minimum: 0,
        description:
          'Rated events that this version would price if they were rated again, which nothing does ' +
          'by itself. Null: too many to be counted while you wait.',
      }),
    ),
  },
  { description: 'A version that was made, and the usage that it touches.' },
);

const tag = 'Services';
const collection = external('/services/{serviceId}/rate-cards');
const item = external('/services/{serviceId}/rate-cards/{currency}');
const versions = external('/services/{serviceId}/rate-cards/{currency}/versions');

export const versionDetails =
  'From that day on it prices usage, simulations and billing runs, until the day of the next ' +
  'version. What was rated stays as it is. 409 when a version begins on that day.';

export const rateCardOperations = {
  list: operation({
    id: 'listRateCards',
    method: 'GET',
    path: collection,
    tag,
    summary: 'List the current rate cards of a service, one for each currency',
    query: Type.Object(pageQuery),
    details:
      'A currency without a card is one in which the service cannot be rated from the catalog.',
    success: reply.page(RateCard),
    errors: [400, 404],
  }),
  get: operation({
    id: 'getRateCard',
    method: 'GET',
    path: item,
    tag,
    summary: 'Read the current rate card of a currency',
    details: 'With its rows in their order: of equally good ones the first prices.',
    success: reply.dto(RateCard),
    errors: [404],
  }),
  listVersions: operation({
    id: 'listRateCardVersions',
    method: 'GET',
    path: versions,
    tag,
    summary: 'List the versions of a rate card, newest fromDate first',
    query: Type.Object(pageQuery),
    details: 'Usage is priced by the version that was in force on its day.',
    success: reply.page(RateCard),
    errors: [400, 404],
  }),
  createVersion: operation({
    id: 'createRateCardVersion',
    method: 'POST',
    path: versions,
    isAddition: true,
    tag,
    summary: 'Make a version of a rate card that begins on a day, past, today or to come',
    body: RateCardVersionWrite,
    example: examples.rateCardVersion,
    details: versionDetails,
    success: reply.created(RateCardVersion),
    errors: [400, 404, 409],
  }),
  deleteVersion: operation({
    id: 'deleteRateCardVersion',
    method: 'DELETE',
    path: external('/services/{serviceId}/rate-cards/{currency}/versions/{versionNo}'),
    isAddition: true,
    tag,
    summary: 'Remove a version of a rate card that is not in force yet',
    details: '409 once its first day has come: a version then stays as it is.',
    success: reply.empty(),
    errors: [404, 409],
  }),
  create: operation({
    id: 'createRateCard',
    method: 'POST',
    path: collection,
    tag,
    summary: 'Add a rate card to a service',
    body: RateCardWrite,
    example: examples.rateCard,
    details: '409 when the currency has one already: replace it.',
    success: reply.created(RateCard),
    errors: [400, 404, 409],
  }),
  replace: operation({
    id: 'replaceRateCard',
    method: 'PUT',
    path: item,
    tag,
    summary: 'Replace a rate card; on an approved service this makes a new version',
    body: RateCardWrite,
    example: examples.rateCard,
    details:
      'Of a service that is not approved the card is changed in place. The rows that are sent are all that it has.',
    success: reply.dto(RateCard),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteRateCard',
    method: 'DELETE',
    path: item,
    tag,
    summary: 'Delete a rate card with all its versions',
    details:
      'What was rated stays; usage in this currency that comes later is rejected with NO_RATE_CARD.',
    success: reply.empty(),
    errors: [404],
  }),
};
