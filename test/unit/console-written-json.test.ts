import { expect } from 'chai';
import {
  keepWritten,
  leavesOf,
  linesOf,
  membersOf,
  textIn,
} from '../../src/console/api/written-json.js';

// spec/beyond.md R372
describe('JSON that the console shows as it was written', () => {
  const written = '{"b":1234567890123.123456789012,"1":[1.10,{"input":2e3},[],{}],"c":"a\\"1,{"}';

  it('is kept as its text, beside numbers that are texts', () => {
    const answer = `{"n":[1.50,-2], "input" : ${written} ,"output":null,"more":{"output":[ 7.0 ]}}`;
    expect(JSON.parse(keepWritten(answer, ['input', 'output']))).to.deep.equal({
      n: ['1.50', '-2'],
      input: { json: written },
      output: null,
      more: { output: { json: '[ 7.0 ]' } },
    });
    const values = '[{"a":1},{"a":"\\\\"},{"a":true},{"a":[{"a":1}]},{"b":"a"}]';
    expect(JSON.parse(keepWritten(values, ['a']))).to.deep.equal([
      { a: { json: '1' } },
      { a: { json: '"\\\\"' } },
      { a: { json: 'true' } },
      { a: { json: '[{"a":1}]' } },
      { b: 'a' },
    ]);
  });

  it('is shown in lines as JSON.stringify writes them, digit by digit and name by name', () => {
    for (const value of [{}, [], 1, 'a', null, { a: [] }, [{}, [1, [2]], { a: { b: 'c:{' } }]]) {
      expect(linesOf({ json: JSON.stringify(value) })).to.equal(JSON.stringify(value, null, 2));
    }
    const lines = linesOf({ json: written });
    expect(lines.split('\n').slice(0, 5)).to.deep.equal([
      '{',
      '  "b": 1234567890123.123456789012,',
      '  "1": [',
      '    1.10,',
      '    {',
    ]);
    expect(linesOf({ json: lines })).to.equal(lines);
  });

  it('has its members by their names', () => {
    const members = membersOf({ json: ' {"a": [1.0, 2] , "b":{"c":1}, "d":"x,\\"y"}' });
    expect([...members].map(([name, { json }]) => [name, json])).to.deep.equal([
      ['a', '[1.0, 2]'],
      ['b', '{"c":1}'],
      ['d', '"x,\\"y"'],
    ]);
    expect([...members.values()].map(textIn)).to.deep.equal([undefined, undefined, 'x,"y']);
    for (const json of ['{}', '[{"a":1}]', '1']) expect(membersOf({ json }).size).to.equal(0);
  });

  it('has its values by the way to them, and leaves out what is null', () => {
    const leaves = leavesOf({ json: '{"a":[{"b":1.10,"c":null},2, []],"d":{},"e":"x,}"}' });
    expect([...leaves].map(([name, { json }]) => [name, json])).to.deep.equal([
      ['a / 1 / b', '1.10'],
      ['a / 2', '2'],
      ['a / 3', '[]'],
      ['d', '{}'],
      ['e', '"x,}"'],
    ]);
    expect([...leavesOf({ json: 'null' })]).to.deep.equal([]);
  });
});
