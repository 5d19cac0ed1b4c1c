import { assert } from 'chai';
import { BodyBudget } from '../../src/api/server/large-bodies-at-once.js';
import { parseJson, stringifyJson } from '../../src/kernel/text/json.js';
import { parseJsonInPortions } from '../../src/kernel/text/json-portions.js';
import { stringifyJsonInPortions } from '../../src/kernel/text/json-write-portions.js';
import { Problem } from '../../src/kernel/problem.js';

const long = 'x'.repeat(40_000);
const many = (text: string, count: number) => Array.from({ length: count }, () => text).join();

async function refusal(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('long JSON', () => {
  const texts: [name: string, text: string][] = [
    ['an array of numbers', `[${many('1', 200_000)}]`],
    ['numbers with many digits', `{"a":[${many('1234567.1234567890123', 9_000)}]}`],
    ['texts with what means something', `["${long}\\"],[{\\\\",${many('"a,]}\\\\"', 20_000)}]`],
    ['members', `{${Array.from({ length: 9_000 }, (_, n) => `"name ${n}":{"n":${n}}`).join()}}`],
    [
      'long parts within long parts',
      `{"a":[[["${long}","${long}"],{"b":["${long}","${long}"]}],1]}`,
    ],
    ['blanks around everything', ` \n{ "a" : [ "${long}" , "${long}" ] , "b" : { } }\t`],
    ['a name that comes twice', `{"a":1,"b":["${long}","${long}"],"a":2}`],
    ['a long part under a name that comes twice', `{"a":["${long}","${long}"],"a":2}`],
    [
      'the name that objects inherit by',
      `{"__proto__":["${long}","${long}"],"z":["${long}","${long}"]}`,
    ],
    ['one long text', JSON.stringify(long + long)],
    ['an empty list among blanks', `${' '.repeat(70_000)}[]${' '.repeat(70_000)}`],
  ];
  for (const [name, text] of texts) {
    it(`is read and written as short JSON is: ${name}`, async () => {
      const read = await parseJsonInPortions(text, 1_000_000);
      const whole = parseJson(text);
      assert.deepEqual(read, whole);
      assert.equal(await stringifyJsonInPortions(read), stringifyJson(whole));
      assert.equal(await stringifyJsonInPortions(read, { isUneven: true }), stringifyJson(whole));
    });
  }

  const members = (count: number): string =>
    `{${Array.from({ length: count }, (_, n) => `"n${n}":{"n":[1,2]}`).join()}}`;

  // docs/decisions/0182
  it('has at most 16,000 members in an object, however often a name comes', async () => {
    assert.deepEqual(
      await parseJsonInPortions(members(16_000), 1_000_000),
      JSON.parse(members(16_000)),
    );
    for (const text of [
      members(16_001),
      `[1,{"a":${members(16_001)}}]`,
      `{${many('"a":1', 16_001)}}`,
    ]) {
      const { kind, message } = await refusal(parseJsonInPortions(text, 1_000_000));
      assert.equal(kind, 'validation');
      assert.equal(message, 'The body has an object with more than 16000 members.');
    }
  });

  const list = `["${long}","${long}"]`;
  const wrong: [name: string, text: string][] = [
    ['a comma before the end', `[${many(`"${long}"`, 4)},]`],
    ['a comma at the beginning', `[,${many(`"${long}"`, 4)}]`],
    ['two commas', `["${long}","${long}",,"${long}"]`],
    ['a list in place of a name', `{${list}:1}`],
    ['a list in place of a name, far from its colon', `{${list}${' '.repeat(200)}:1}`],
    ['the wrong bracket', `{"a":${list}]`],
    ['no end', `[${list}`],
    ['more than one value', `${list}${list}`],
    ['something behind it', `${list} x`],
    ['something before it', `x ${list}`],
    ['an end too many', `${list}]`],
    ['two values without comma', `[${list}${list}]`],
    ['a text without end', `["${long}","${long}`],
  ];
  for (const [name, text] of wrong) {
    it(`is refused as short JSON is: ${name}`, async () => {
      assert.throws(() => parseJson(text), Problem);
      assert.equal((await refusal(parseJsonInPortions(text, 1_000_000))).kind, 'validation');
    });
  }

  it('is refused beyond so many values, levels, or characters of a text', async () => {
    const values = await refusal(parseJsonInPortions(`[${many('1', 100_001)}]`, 100_000));
    assert.include(values.message, 'more than 100000 values');
    const deep = await refusal(parseJsonInPortions('['.repeat(70_000), 100_000));
    assert.include(deep.message, 'deeper than 64');
    const text = await refusal(parseJsonInPortions(`["${'x'.repeat(1_048_577)}"]`, 10));
    assert.include(text.message, 'more than 1048576 characters');
  });
});

describe('the budget of large bodies', () => {
  const mebibyte = 1024 * 1024;

  it('lets a tenant have one bulk, and three of them be worked on', async () => {
    const budget = new BodyBudget();
    const begun: string[] = [];
    const enter = async (tenant: string): Promise<() => void> => {
      const leave = await budget.enter(tenant, 16 * mebibyte);
      begun.push(tenant);
      return leave;
    };
    const [first, , third] = ['a', 'a', 'b', 'c', 'd'].map(enter);
    const leaveFirst = await first;
    const leaveThird = await third;
    await Promise.resolve();
    // The second of a waits for a's first, d for any.
    assert.deepEqual(begun, ['a', 'b', 'c']);
    leaveThird?.();
    await new Promise(setImmediate);
    assert.deepEqual(begun, ['a', 'b', 'c', 'd']);
    leaveFirst?.();
    leaveFirst?.();
    await new Promise(setImmediate);
    assert.deepEqual(begun, ['a', 'b', 'c', 'd', 'a']);
  });

  it('refuses more than 128 that wait of one tenant, and forgets who has gone', async () => {
    const budget = new BodyBudget();
    const leave = await budget.enter('a', 16 * mebibyte);
    const gone = new AbortController();
    const waiting = Array.from({ length: 128 }, () => budget.enter('a', mebibyte, gone.signal));
    const ends = Promise.allSettled(waiting);
    assert.equal((await refusal(budget.enter('a', mebibyte))).kind, 'overloaded');
    gone.abort();
    assert.include((await ends).map(({ status }) => status).join(), 'rejected');
    leave();
    const again = await budget.enter('a', 16 * mebibyte);
    again();
  });
});
