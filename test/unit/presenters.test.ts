import { expect } from 'chai';
import { Type } from 'typebox';
import { presentProblem, familyOfPath } from '../../src/api/presenters/problem.js';
import { presentReply } from '../../src/api/presenters/reply.js';
import { stringifyJson } from '../../src/api/server/unstorable-text.js';
import { Decimal } from '../../src/kernel/numbers/money.js';
import { Problem, statusOfKind, type ProblemKind } from '../../src/kernel/problem.js';
import { referenceData } from '../../src/kernel/reference-data.js';
import { reply, type JsonReply } from '../../src/schemas/http/operation.js';
import { rowSpec } from '../../src/schemas/http/row.js';

const usdId = '00000000-0000-5000-8000-000000000001';
const chargeId = '00000000-0000-5000-8000-000000000002';

const Thing = Type.Object({
  id: Type.String(),
  name: Type.String(),
  usageType: Type.String(),
  currency: Type.String(),
});
const thingRow = rowSpec('Thing', Thing, { usageType: 'usageType', currency: 'currency' });
const thing = { id: 't1', name: 'One', usageType: 'Charge', currency: 'USD' };
const row = {
  __type__: 'Thing',
  Id: 't1',
  Name: 'One',
  UsageType: chargeId,
  UsageType__r: { Name: 'Charge' },
  Currency: usdId,
  Currency__r: { Name: 'USD' },
};
const envelope = (data: unknown) => ({
  requestId: 'r1',
  success: true,
  status: 200,
  errors: [],
  data,
});
const sort = { empty: true, sorted: false, unsorted: true };
const pageOf = (content: object[], total: number, number: number, size: number, pages: number) => ({
  content,
  totalElements: total,
  totalPages: pages,
  size,
  number,
  numberOfElements: content.length,
  first: number === 0,
  last: number >= pages - 1,
  empty: content.length === 0,
  sort,
  pageable: {
    pageNumber: number,
    pageSize: size,
    sort,
    offset: number * size,
    paged: true,
    unpaged: false,
  },
});

const list = { items: [thing], total: 41 };
const none = { items: [], total: 0 };
const rowView = { view: 'row' };
const page = { page: 2, size: 20 };

const replies: readonly (readonly [
  string,
  JsonReply,
  unknown,
  Record<string, unknown>,
  unknown,
])[] = [
  ['a DTO as it is', reply.dto(Thing), thing, {}, thing],
  ['a DTO without rows, asked for its row, as it is', reply.dto(Thing), thing, rowView, thing],
  ['a DTO with rows as it is', reply.dto(Thing, thingRow), thing, {}, thing],
  ['its row in an envelope', reply.dto(Thing, thingRow), thing, rowView, envelope(row)],
  ['a row in an envelope', reply.row(thingRow), thing, {}, envelope(row)],
  ['nothing', reply.empty(), undefined, {}, undefined],
  [
    'the last of three pages of rows',
    reply.rowPage(thingRow),
    list,
    page,
    envelope(pageOf([row], 41, 2, 20, 3)),
  ],
  [
    'an empty page of rows: the first and the last',
    reply.rowPage(thingRow),
    none,
    { page: 0, size: 20 },
    envelope(pageOf([], 0, 0, 20, 0)),
  ],
  [
    'a PageResponse',
    reply.page(Thing),
    list,
    page,
    { content: [thing], page: 2, size: 20, totalElements: 41, totalPages: 3 },
  ],
  [
    // Rows 40 to 46 would fit: pages that count from 40 have 5 rows, not 7.
    'a PageResponse that ended early, as a page of a smaller size',
    reply.page(Thing),
    { items: Array(7).fill(thing), total: 61, isCut: true },
    page,
    { content: Array(5).fill(thing), page: 8, size: 5, totalElements: 61, totalPages: 13 },
  ],
  [
    'a page of rows that ended early',
    reply.rowPage(thingRow),
    { items: Array(7).fill(thing), total: 61, isCut: true },
    page,
    envelope(pageOf(Array(5).fill(row), 61, 8, 5, 13)),
  ],
  [
    'a PageResponse asked for rows',
    reply.page(Thing, thingRow),
    list,
    { ...page, ...rowView },
    envelope(pageOf([row], 41, 2, 20, 3)),
  ],
  [
    'a DTO in an envelope',
    reply.enveloped(Thing, 201),
    thing,
    rowView,
    { ...envelope(thing), status: 201 },
  ],
  ['all DTOs in an envelope', reply.envelopedList(Thing), [thing], {}, envelope([thing])],
  [
    'an offset page with more to come',
    reply.offsetPage(Thing),
    list,
    { limit: 1, offset: 39 },
    { data: [thing], pagination: { total: 41, limit: 1, offset: 39, hasMore: true } },
  ],
  [
    'an offset page without more to come',
    reply.offsetPage(Thing),
    list,
    { limit: 1, offset: 40 },
    { data: [thing], pagination: { total: 41, limit: 1, offset: 40, hasMore: false } },
  ],
];

describe('presenters', () => {
  before(() => {
    referenceData.load({
      picklistValues: [{ id: chargeId, picklist: 'usageType', name: 'Charge' }],
      currencies: [{ id: usdId, code: 'USD', name: 'US Dollar', symbol: '$', minorDigits: 2 }],
      countries: [],
    });
  });

  for (const [name, form, result, query, expected] of replies) {
    // spec/resources.md R4
    it(`show ${name}`, () => {
      expect(presentReply(form, result, { requestId: 'r1', query })).to.deep.equal(expected);
    });
  }

  it('show an empty lookup as null twice', () => {
    const { data } = presentReply(
      reply.row(thingRow),
      { ...thing, usageType: null },
      { requestId: 'r1', query: {} },
    ) as { data: object };
    expect(data).to.deep.equal({ ...row, UsageType: null, UsageType__r: null });
  });

  it('write every digit of a decimal as a number', () => {
    const amount = new Decimal('12345678901234567890.123456789012345678');
    expect(stringifyJson({ amount, list: [amount] })).to.equal(
      '{"amount":12345678901234567890.123456789012345678,' +
        '"list":[12345678901234567890.123456789012345678]}',
    );
    expect(stringifyJson({ small: new Decimal('1e-10') })).to.equal('{"small":0.0000000001}');
  });

  const conflict = new Problem('conflict', 'It exists.', { field: 'number', code: 'taken' });

  it('show a problem of the billing API', () => {
    expect(presentProblem('billing', conflict, '/api/x')).to.deep.equal({
      status: 409,
      error: 'Conflict',
      message: 'It exists.',
      path: 'uri=/api/x',
    });
    const failed = new Problem('conflict', 'It exists.', { flowExecutionId: 'f1' });
    expect(presentProblem('flows', failed, '/api/x')).to.include({ flowExecutionId: 'f1' });
    expect(presentProblem('billing', failed, '/api/x')).to.not.have.property('flowExecutionId');
  });

  it('show a problem of the record API', () => {
    const { error } = presentProblem('records', conflict, '/v1/x') as {
      error: Record<string, unknown>;
    };
    const { timestamp, ...rest } = error;
    expect(rest).to.deep.equal({
      code: 'CONFLICT',
      message: 'It exists.',
      details: { field: 'number', code: 'taken' },
    });
    expect(new Date(String(timestamp)).toISOString()).to.equal(timestamp);
  });

  // spec/gateway.md R5
  it('show a problem of ingestion', () => {
    expect(presentProblem('ingestion', conflict, '/v1/ingest/usage')).to.deep.equal({
      is_gateway_error: false,
      status_code: 409,
      error: { message: 'It exists.' },
      extra_fields: {},
    });
  });

  // spec/gateway.md R16
  it('show a problem of the gateway', () => {
    const body = presentProblem('gateway', conflict, '/api/oauth/x') as Record<string, unknown>;
    expect(body['event_id']).to.match(/^[0-9a-f-]{36}$/);
    expect(body).to.deep.equal({
      event_id: body['event_id'],
      type: 'error',
      is_gateway_error: true,
      status_code: 409,
      error: {
        type: 'Conflict',
        code: 'taken',
        message: 'It exists.',
        param: 'number',
        event_id: body['event_id'],
      },
      extra_fields: { provider: null, model_requested: null, request_type: null },
    });
  });

  // spec/platform.md R15
  it('know a label and a code for every kind of problem', () => {
    for (const kind of Object.keys(statusOfKind) as ProblemKind[]) {
      const failure = new Problem(kind, 'x');
      const { error } = presentProblem('billing', failure, '/') as { error: string };
      expect(error, kind).to.match(/^[A-Z]/);
      const records = presentProblem('records', failure, '/') as { error: { code: string } };
      expect(records.error.code, kind).to.match(/^[A-Z_]+$/);
    }
  });

  const families = [
    ['/v1/ingest/usage/nowhere', 'ingestion'],
    ['/v1/nowhere', 'records'],
    ['/api/oauth/nowhere', 'gateway'],
    ['/api/v1/external/nowhere', 'billing'],
    ['/nowhere', 'billing'],
  ] as const;
  for (const [path, family] of families) {
    it(`render what is not found at ${path} as ${family}`, () => {
      expect(familyOfPath(path)).to.equal(family);
    });
  }
});
