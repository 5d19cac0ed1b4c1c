import { expect } from 'chai';
import { definitionFaults } from '../../../src/commands/workflows/check-definition.js';
import { parseJson } from '../../../src/kernel/text/json.js';

const document = { dsl: '1.0.0', namespace: 'test', name: 'checked', version: '1.0.0' };
const set = { set: { a: 1 } };
const doing = (task: object): object => ({ document, do: [{ one: task }] });
const called = (name: string): object => ({
  document: { ...document, name },
  do: [{ one: set }],
});
const asking = (more: object): object =>
  doing({
    call: 'durabill.approval',
    with: { title: 'Go on?', timeout: 'P1D', onTimeout: 'fail', ...more },
  });
const undone = (undo: object): object => doing({ ...set, 'durabill.undo': undo });
const caught = (more: object): object => doing({ try: [{ a: set }], catch: more });

/** spec/beyond.md R323, R324: what is wrong, and the places of all faults, each once. */
const table: readonly [string, object, string[]][] = [
  ['no tasks', { document, do: [] }, ['/do']],
  ['tasks that are no list', { document, do: { one: set } }, ['/do']],
  ['no `do`', { document }, ['/do']],
  ['tasks that are none', { document, do: [5, { a: set, b: set }] }, ['/do/0', '/do/1']],
  ['the name of another path', called('schema'), ['/document/name']],
  ['the name of another path', called('validate'), ['/document/name']],
  ['the name of what is built in', called('billing-run'), ['/document/name']],
  ['a name like an id', called('01939c6e-7a00-7000-8000-000000000001'), ['/document/name']],
  ['bytes', doing({ set: { a: '${ b"abc" }' } }), ['/do/0/one/set/a']],
  ['bytes in a list', doing({ set: { a: '${ [b"abc"] }' } }), ['/do/0/one/set/a']],
  ['bytes that are read', doing({ set: { a: '${ size(b"abc") }' } }), ['/do/0/one/set/a']],
  ['a type', doing({ set: { a: '${ type(input) }' } }), ['/do/0/one/set/a']],
  ['a time in texts', asking({ timeout: { days: '3' } }), ['/do/0/one/with/timeout']],
  ['a time in parts', asking({ timeout: { days: 1.5 } }), ['/do/0/one/with/timeout']],
  ['no time', asking({ timeout: 'PT0S' }), ['/do/0/one/with/timeout']],
  ['a title that is no text', asking({ title: 5 }), ['/do/0/one/with/title']],
  ['details that are a text', asking({ details: 'all' }), ['/do/0/one/with/details']],
  [
    'all of an approval',
    asking({ roles: ['READER'], quorum: 0, onTimeout: 'stay', colour: '${ nobody }' }),
    [
      '/do/0/one/with/colour',
      '/do/0/one/with/roles/0',
      '/do/0/one/with/quorum',
      '/do/0/one/with/onTimeout',
      '/do/0/one/with/colour',
    ],
  ],
  ['a flow with a list', doing({ call: 'durabill.account-edit', with: [1] }), ['/do/0/one/with']],
  [
    'headers that are a text',
    doing({ call: 'http', with: { method: 'GET', endpoint: 'https://a.b', headers: 'x: y' } }),
    ['/do/0/one/with/headers'],
  ],
  ['http without anything', doing({ call: 'http' }), ['/do/0/one/with']],
  [
    'all of http',
    doing({ call: 'http', with: { method: 'get', headers: { Host: 'x' }, body: '${ x }' } }),
    [
      '/do/0/one/with/endpoint',
      '/do/0/one/with/method',
      '/do/0/one/with/headers/Host',
      '/do/0/one/with/body',
    ],
  ],
  [
    'an undo of http without a method',
    undone({ call: 'http', with: { endpoint: 'https://a.b' } }),
    ['/do/0/one/durabill.undo/with/method'],
  ],
  ['a condition that is a number', doing({ if: '${ 1 + 1 }', set: {} }), ['/do/0/one/if']],
  ['a condition that is a text', caught({ when: '${ "no" }' }), ['/do/0/one/catch/when']],
  [
    'a loop over a number',
    doing({ for: { in: '${ 3 }' }, do: [{ a: set }] }),
    ['/do/0/one/for/in'],
  ],
  [
    'variables with names of JavaScript',
    doing({ for: { each: '__proto__', at: 'constructor', in: '${ [1] }' }, do: [{ a: set }] }),
    ['/do/0/one/for/each', '/do/0/one/for/at'],
  ],
  ['an error of that name', caught({ as: 'prototype' }), ['/do/0/one/catch/as']],
  ['a name that maps lose', doing({ set: { a: '${ {"constructor": 1} }' } }), ['/do/0/one/set/a']],
];

describe('checking a definition', () => {
  for (const [title, definition, places] of table) {
    it(`names ${title} at its place`, () => {
      const sent: unknown = JSON.parse(JSON.stringify(definition));
      const faults = definitionFaults(sent, { secrets: new Set() });
      expect(faults.map(({ pointer }) => pointer)).to.deep.equal(places);
    });
  }

  const said: readonly [object, string][] = [
    [
      doing({ call: 'durabill.operation', with: { operationId: 'createAcount' } }),
      "There is no operation 'createAcount' that can be called. Did you mean createAccount?",
    ],
    [
      doing({ call: 'durabill.operation', with: { operationId: 'fly' } }),
      "There is no operation 'fly' that can be called. See /openapi.json.",
    ],
    [
      doing({ call: 'Durabil.price', with: {} }),
      "There is no 'Durabil.price' to call. Did you mean durabill.price?",
    ],
    [{ document, do: [] }, 'must have at least 1 item'],
    [
      { document: { ...document, version: 'one' }, do: [{ one: set }] },
      'is not valid: A version of yours, three numbers: 1.0.0.',
    ],
    [
      doing({ call: 'http', with: { method: 'GET', endpoint: 'https://me:key@a.example/' } }),
      'has a name or password: send a header authorization',
    ],
    [
      doing({
        call: 'http',
        with: { method: 'GET', endpoint: 'https://a.example/', headers: { x: 'a\nb: c' } },
      }),
      'must be a text without line breaks',
    ],
    [asking({ onTimeout: 'stay' }), 'must be one of: reject, approve, fail'],
    [{ ...doing(set), input: { schema: { format: 'xml', document: {} } } }, 'must be "json"'],
  ];
  for (const [definition, message] of said) {
    it(`says ${message}`, () => {
      const [fault] = definitionFaults(definition, { secrets: new Set() });
      expect(fault?.message).to.equal(message);
    });
  }

  // spec/beyond.md R418
  const asked = (operationId: string, body?: object): object =>
    doing({ call: 'durabill.operation', with: { operationId, ...(body ? { body } : {}) } });
  const flow = (input: object): object => doing({ call: 'durabill.payment-save', with: input });
  const card = (row: object): object =>
    asked('createService', {
      name: 'A',
      rateCards: [{ currency: 'USD', rows: [{ priceDimName: 'a', label: 'a', ...row }] }],
    });
  const written: readonly [object, string[]][] = [
    [
      asked('createAccount', { nme: 'A' }),
      ["/body/name 'name' is required", "/body/nme 'nme' is not a known property"],
    ],
    [asked('createAccount'), ["/body/name 'name' is required"]],
    [asked('createAccount', { name: 5 }), ['/body/name must be a text']],
    [
      asked('createAccount', { name: '${ input.name }', billingDay: 'x' }),
      ['/body/billingDay must be'],
    ],
    [
      asked('createAccount', { name: '${ input.name }', colour: 1 }),
      ["/body/colour 'colour' is not a known property"],
    ],
    // What the server alone sets may be sent back, and is passed over.
    [asked('createAccount', { id: 'x', name: 'A' }), []],
    // The form of a row is that of its method, which the input says.
    [card({ priceMethod: '${ input.method }', unitRate: 1 }), []],
    [card({ priceMethod: 'QUANTITY', unitRate: '${ input.rate }' }), []],
    [
      flow({ acount_id: '${ input.id }' }),
      ["/amount 'amount' is required", "/acount_id 'acount_id' is not a known property"],
    ],
    [
      doing({
        call: 'durabill.billing-run',
        with: { periodStart: '2026-13-01', periodEnd: '${ input.end }' },
      }),
      ["/periodStart '2026-13-01' must be a calendar date"],
    ],
    [doing({ call: 'durabill.billing-run', with: '${ input }' }), []],
  ];
  for (const [definition, faults] of written) {
    it(`says ${faults.join(' and ') || 'nothing'} of ${JSON.stringify(definition).slice(83, 260)}`, () => {
      const found = definitionFaults(definition, { secrets: new Set() }).map(
        ({ pointer, message }) => `${pointer.replace('/do/0/one/with', '')} ${message}`,
      );
      for (const fault of faults)
        expect(found.filter((one) => one.startsWith(fault))).to.have.length(1);
      if (faults.length === 0) expect(found).to.deep.equal([]);
    });
  }

  // One mistake is one fault, however many forms were tried; spec/beyond.md R418.
  const noIds = ['serviceId', 'currencyId'].map((name) => `/body/${name} '${name}' is required`);
  const tier = (tierMaxVal: unknown): object =>
    asked('insertPriceMatrix', {
      priceMatrixRows: [
        {
          priceMethod: 'TIERED',
          priceDimName: 'a',
          label: 'a',
          rateCardTiers: [{ tierNum: 1, tierMinVal: 0, tierUnitRate: 1, tierMaxVal }],
        },
      ],
    });
  const dry = (results: object): object =>
    doing({
      call: 'durabill.operation',
      with: { operationId: 'simulateWorkflow', parameters: { workflowId: 'a' }, body: { results } },
    });
  const once: readonly [object, string[]][] = [
    [
      tier('many'),
      [...noIds, '/body/priceMatrixRows/0/rateCardTiers/0/tierMaxVal must be a number'],
    ],
    [tier(null), noIds],
    [
      dry({ a: 5 }),
      ['/body/results/a must be an object, such as {"name": "value"} or a list, such as ["value"]'],
    ],
    [dry({ a: [] }), ['/body/results/a must have at least 1 item']],
    [
      dry({ a: { output: 1, error: { status: 3 } }, b: [{}, 7] }),
      [
        '/body/results/a/error/status must be >= 400',
        '/body/results/b/1 must be an object, such as {"name": "value"}',
      ],
    ],
    // Which one of these form no part of it: the command asks for one when it is called.
    [asked('createAdjustment', { kind: 'minimum', value: 5, from: '2026-01-01' }), []],
    [
      asked('createAdjustment', { kind: 'minimum', value: 'x', from: '2026-01-01' }),
      ['/body/value must be a number'],
    ],
  ];
  for (const [definition, faults] of once) {
    it(`says once: ${faults.join(' and ') || 'nothing'}`, () => {
      const found = definitionFaults(definition, { secrets: new Set() }).map(
        ({ pointer, message }) => `${pointer.replace('/do/0/one/with', '')} ${message}`,
      );
      expect(found).to.deep.equal(faults);
    });
  }

  // spec/beyond.md R417
  const bounds: readonly [string, string[]][] = [
    ['{"type":"number","maximum":9007199254740991,"minimum":1e3,"enum":[1e3]}', []],
    ['{"maximum":0.8571428571428571}', []],
    ['{"maximum":9007199254740993}', ["'maximum' must be a number that a double holds"]],
    ['{"maximum":"5"}', ["'maximum' must be a number"]],
  ];
  for (const [schema, messages] of bounds) {
    it(`says ${messages.join() || 'nothing'} of the schema ${schema}`, () => {
      const text = JSON.stringify({ ...doing({ set: { a: 1 } }), input: { schema: 'HERE' } });
      const input = `{"format":"json","document":${schema}}`;
      const given = parseJson(text.replace('"HERE"', input));
      const found = definitionFaults(given, { secrets: new Set() });
      expect(found.map(({ message }) => message)).to.deep.equal(messages);
    });
  }

  const sending = (text: string): object =>
    doing({
      call: 'http',
      with: { method: 'POST', endpoint: 'https://a.b', body: { of: `\${ ${text} }` } },
    });
  const saidOf = (definition: object): string[] =>
    definitionFaults(definition, { secrets: new Set(['CRM']) }).map(({ message }) => message);

  // spec/beyond.md R406
  const passedOn = [
    'secrets.CRM',
    '"Bearer " + secrets.CRM',
    '(input.isNew ? secrets.CRM : "none") + "!"',
    '["a", secrets.CRM].join(":")',
    '{"key": [secrets.CRM], "n": input.n.map(n, string(n) + secrets.CRM)}',
  ];
  for (const text of passedOn) {
    it(`takes ${text}, which sends a secret as it is`, () => {
      expect(saidOf(sending(text))).to.deep.equal([]);
    });
  }
  const lookedAt: readonly [string, number][] = [
    ['secrets.CRM.upperAscii()', 1],
    ['"x" + string(size(secrets.CRM))', 19],
    ['secrets.CRM == "x" ? 1 : 2', 1],
    ['{secrets.CRM: 1}', 2],
    ['secrets.CRM[0]', 1],
    ['[1].map(n, n > 0 && secrets.CRM == "x")', 21],
  ];
  for (const [text, character] of lookedAt) {
    it(`refuses ${text}, which would see a mark in the place of a secret`, () => {
      expect(saidOf(sending(text))).to.deep.equal([
        `A secret is sent as it is, or joined with other texts ("Bearer " + secrets.NAME): no function and no comparison sees what it says (at character ${character} of the expression)`,
      ]);
    });
  }

  it('says where secrets are known, where one is read elsewhere', () => {
    expect(saidOf(doing({ set: { a: '${ secrets.CRM }' } }))).to.deep.equal([
      "Unknown variable: secrets (at character 1 of the expression) Secrets are known in 'with' of a call of http alone, which sends them.",
    ]);
  });
});
