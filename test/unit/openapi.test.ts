import { expect } from 'chai';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Type } from 'typebox';
import { DecimalValue } from '../../src/kernel/numbers/decimal-value.js';
import { Picklist, PicklistReference } from '../../src/kernel/picklist-field.js';
import {
  CountryName,
  CurrencyCode,
  DateText,
  nullable,
  oneOfBy,
  optional,
  Text,
  Uuid,
  writeBody,
} from '../../src/schemas/fields/field.js';
import { modules, operations } from '../../src/schemas/index.js';
import { describeApi } from '../../src/schemas/openapi/openapi.js';
import { SchemaTranslator } from '../../src/schemas/openapi/openapi-schema.js';
import { operation, reply, type Operation } from '../../src/schemas/http/operation.js';
import { Flag, WholeNumber } from '../../src/schemas/http/paging.js';
import { rowSpec } from '../../src/schemas/http/row.js';

const picklist = (name: string): string[] => (name === 'usageType' ? ['Charge', 'Payout'] : []);
const description = 'A field.';

const keywords: readonly (readonly [string, object, object])[] = [
  ['a decimal', DecimalValue({ description }), { type: 'number' }],
  [
    'a decimal with a minimum',
    DecimalValue({ description, minimum: '0.5' }),
    { type: 'number', minimum: 0.5 },
  ],
  [
    'a picklist',
    Picklist('usageType', { description }),
    { type: 'string', enum: ['Charge', 'Payout'] },
  ],
  [
    'a picklist by id or name',
    PicklistReference('usageType', { description }),
    { type: 'string', examples: ['Charge', 'Payout'] },
  ],
  [
    'a decimal above another',
    DecimalValue({ description, exclusiveMinimum: '0' }),
    { type: 'number', exclusiveMinimum: 0 },
  ],
  ['a picklist that is not loaded', Picklist('netTerm', { description }), { type: 'string' }],
  [
    'a currency',
    CurrencyCode(description),
    { type: 'string', minLength: 1, examples: ['USD', 'Euro'] },
  ],
  [
    'a country',
    CountryName(description),
    { type: 'string', minLength: 1, examples: ['France', 'US', 'IND'] },
  ],
  ['a date', DateText(description), { type: 'string', format: 'date' }],
  [
    'a whole number of a query: a larger one than the cap is accepted',
    WholeNumber({ description, default: 20, minimum: 1, cap: 20 }),
    { type: 'integer', minimum: 1, maximum: 999_999_999_999, default: 20 },
  ],
  ['a flag', Flag(description), { type: 'boolean', default: false }],
  [
    'a date or an instant',
    Type.Unsafe<string>({ description, dateOrInstant: true }),
    { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] },
  ],
  ['a nullable text', nullable(Type.String({ description })), { type: ['string', 'null'] }],
  [
    'a nullable picklist',
    nullable(Picklist('usageType', { description })),
    { type: ['string', 'null'], enum: ['Charge', 'Payout', null] },
  ],
  [
    'a nullable constant',
    nullable(Type.Literal('a', { description })),
    { anyOf: [{ type: 'string', const: 'a' }, { type: 'null' }] },
  ],
  [
    'a choice of constants',
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description }),
    { type: 'string', enum: ['asc', 'desc'] },
  ],
  [
    'a write body: what it ignores is not shown',
    writeBody({ size: optional(DecimalValue({ description })) }, { description }),
    {
      type: 'object',
      properties: { size: { type: ['number', 'null'], description } },
      additionalProperties: false,
    },
  ],
  [
    'a write body of which one field or another is required',
    writeBody({ size: DecimalValue({ description }) }, { description, requiredAny: ['size'] }),
    {
      type: 'object',
      required: ['size'],
      properties: { size: { type: 'number', description } },
      additionalProperties: false,
      anyOf: [{ required: ['size'] }],
    },
  ],
];

const Flat = Type.Object({ kind: Type.Literal('FLAT', { description: 'Kind.' }) });
const Tiered = Type.Object({ kind: Type.Literal('TIERED', { description: 'Kind.' }) });
const Price = oneOfBy('kind', [Flat, Tiered], { description: 'A price.' });
const Thing = Type.Object({
  id: Uuid('Id.'),
  name: Text('Name.'),
  usageType: nullable(Type.String({ description: 'Kind of usage.' })),
});
const ThingBody = Type.Object({ price: optional(Price) });
const thingRow = rowSpec('Thing', Thing, { usageType: 'usageType' });

const common = { method: 'GET', tag: 'Things', errors: [] } as const;
const things = {
  list: operation({
    ...common,
    id: 'list',
    path: '/things',
    summary: 'List',
    success: reply.rowPage(thingRow),
  }),
  get: operation({
    ...common,
    id: 'get',
    path: '/things/{thingId}/{currency}/{key}',
    summary: 'Read',
    query: Type.Object({
      view: Type.Optional(Type.Literal('row', { description: 'Rows.' })),
      must: Text('It must.'),
    }),
    success: reply.dto(Thing, thingRow),
    errors: [404],
  }),
  page: operation({
    ...common,
    id: 'page',
    path: '/page',
    summary: 'Page',
    family: 'records',
    success: reply.page(Thing),
  }),
  offset: operation({
    ...common,
    id: 'offset',
    path: '/offset',
    summary: 'Page',
    access: 'token',
    success: reply.offsetPage(Thing),
  }),
  put: operation({
    ...common,
    method: 'PUT',
    id: 'put',
    path: '/things',
    summary: 'Change',
    access: 'public',
    body: ThingBody,
    example: { price: { kind: 'FLAT' } },
    success: reply.empty(),
    errors: [409],
  }),
};

interface Described {
  readonly paths: Record<string, Record<string, Record<string, unknown>>>;
  readonly components: Record<string, Record<string, Record<string, unknown>>>;
}
const describeThings = () =>
  describeApi(Object.values(things), [{ Thing, ThingBody, Price, Flat, Tiered }], {
    version: '1.2.3',
    picklist,
  }) as unknown as Described;

/** The body of a success answer, as it is referred to. */
const successOf = (document: Described, path: string, method = 'get'): unknown => {
  const responses = document.paths[path]?.[method]?.['responses'] as Record<
    string,
    { content: { 'application/json': { schema: unknown } } }
  >;
  return responses['200']?.content['application/json'].schema;
};
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe('the OpenAPI document', () => {
  for (const [name, schema, expected] of keywords) {
    it(`translates ${name}`, () => {
      const translated = new SchemaTranslator([], picklist).translate(schema);
      expect(translated).to.deep.equal({ ...expected, description });
    });
  }

  it('asks a body for nothing that has a default', () => {
    const body = Type.Object({
      limit: Type.Integer({ default: 50 }),
      name: Type.String(),
      note: Type.Optional(Type.String()),
    });
    const translator = new SchemaTranslator([], picklist);
    expect(translator.translate(body)['required']).to.deep.equal(['name']);
    const paged = Type.Object({ limit: Type.Integer({ default: 50 }) });
    expect(translator.translate(paged)).to.not.have.property('required');
  });

  it('refuses a keyword that it does not know', () => {
    const schema = Type.Unsafe({ description, colour: 'red' });
    expect(() => new SchemaTranslator([], picklist).translate(schema)).to.throw("'colour'");
  });

  it('names what was exported, also behind optional() and in a discriminator', () => {
    const { schemas = {} } = describeThings().components;
    expect(schemas['ThingBody']?.['properties']).to.deep.equal({
      price: { anyOf: [ref('Price'), { type: 'null' }] },
    });
    expect(schemas['Price']).to.deep.include({
      oneOf: [ref('Flat'), ref('Tiered')],
      discriminator: {
        propertyName: 'kind',
        mapping: { FLAT: '#/components/schemas/Flat', TIERED: '#/components/schemas/Tiered' },
      },
    });
  });

  it('names variants that were not exported after the whole and their constant', () => {
    const translator = new SchemaTranslator([{ Price }], picklist);
    translator.translate(Price);
    expect(Object.keys(translator.components)).to.deep.equal([
      'Price',
      'Price_FLAT',
      'Price_TIERED',
    ]);
  });

  it('shows each answer as it is wrapped', () => {
    const document = describeThings();
    expect(successOf(document, '/things')).to.deep.equal(ref('ThingRowPageEnvelope'));
    expect(successOf(document, '/things/{thingId}/{currency}/{key}')).to.deep.equal({
      oneOf: [ref('Thing'), ref('ThingRowEnvelope')],
    });
    expect(successOf(document, '/page')).to.deep.equal(ref('ThingPage'));
    expect(successOf(document, '/offset')).to.deep.equal(ref('ThingList'));
    expect(document.paths['/things']?.['put']?.['responses'])
      .to.have.property('204')
      .that.does.not.have.property('content');
    expect(
      Object.keys(document.components['schemas']?.['ThingRow']?.['properties'] as object),
    ).to.deep.equal(['__type__', 'Id', 'Name', 'UsageType', 'UsageType__r']);
  });

  it('lists the errors of each operation by its access and family', () => {
    const { paths } = describeThings();
    const statuses = (path: string, method = 'get') =>
      Object.keys(paths[path]?.[method]?.['responses'] as object);
    expect(statuses('/things')).to.deep.equal(['200', '400', '401', '403', '429', '503']);
    expect(statuses('/things/{thingId}/{currency}/{key}')).to.deep.equal([
      '200',
      '400',
      '401',
      '403',
      '404',
      '429',
      '503',
    ]);
    expect(statuses('/offset')).to.deep.equal(['200', '400', '401', '403', '429', '503']);
    expect(statuses('/things', 'put')).to.deep.equal(['204', '400', '409', '413', '429', '503']);
    expect(paths['/page']?.['get']?.['responses']).to.deep.include({
      403: { $ref: '#/components/responses/RecordsForbidden' },
    });
    expect(paths['/things']?.['put']?.['security']).to.deep.equal([]);
  });

  it('describes a key of the caller as such', () => {
    const { get } = things;
    const path = '/things/{externalId}';
    const described = describeApi([{ ...get, path, textParams: ['externalId'] }], [], {
      version: '1.2.3',
      picklist,
    }) as unknown as Described;
    const [parameter] = described.paths[path]?.['get']?.['parameters'] as object[];
    expect(parameter).to.include({ description: 'The external id.' });
  });

  it('describes parameters', () => {
    const { paths } = describeThings();
    const parameters = paths['/things/{thingId}/{currency}/{key}']?.['get']?.[
      'parameters'
    ] as Record<string, unknown>[];
    expect(
      parameters.map(({ name, in: place, required = false }) => [name, place, required]),
    ).to.deep.equal([
      ['thingId', 'path', true],
      ['currency', 'path', true],
      ['key', 'path', true],
      ['view', 'query', false],
      ['must', 'query', true],
    ]);
    expect(parameters[0]).to.deep.include({
      description: 'Id of the thing.',
      schema: { type: 'string', format: 'uuid' },
    });
    for (const parameter of parameters) expect(parameter['description']).to.match(/\S/);
  });

  it('is valid OpenAPI 3.1: of these things, and of this product', async () => {
    const declared = Object.values(operations).flatMap((some) => Object.values<Operation>(some));
    const product = describeApi(declared, modules, { version: '1.2.3', picklist });
    for (const document of [describeThings(), product]) {
      const result = await new Validator().validate({ ...document });
      expect(result).to.deep.equal({ valid: true });
    }
  });
});
