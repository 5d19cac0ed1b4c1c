import { expect } from 'chai';
import { placeOfPointer, placesOf } from '../../src/console/api/json-lines.js';

const text = `{
  "document": {"name": "a", "a/b": 1},
  "do": [
    {"first": {"set": {"x": "}, [\\"y\\": 2"}}},
    {"second": {
      "call": "http"
    }}
  ]
}`;

describe('the lines of a definition in the console', () => {
  const cases: [pointer: string, line: number, column: number][] = [
    ['', 1, 1],
    ['/document', 2, 3],
    ['/document/name', 2, 16],
    ['/document/a~1b', 2, 29],
    ['/do/0', 4, 5],
    ['/do/0/first/set/x', 4, 24],
    ['/do/1/second/call', 6, 7],
    // What the text does not have is at what is around it.
    ['/do/1/second/with/method', 5, 6],
    ['/input', 1, 1],
  ];
  for (const [pointer, line, column] of cases) {
    it(`finds ${pointer === '' ? 'the whole' : pointer}`, () => {
      expect(placeOfPointer(placesOf(text), pointer)).to.deep.equal({ line, column });
    });
  }

  it('reads as far as there is JSON', () => {
    const places = placesOf('{"a": {"b": ');
    expect([...places.keys()]).to.deep.equal(['', '/a', '/a/b']);
  });
});
