import { expect } from 'chai';
import { isNumberText, parseExact, writeExact } from '../../src/console/api/exact-json.js';

// spec/beyond.md R380
describe('JSON that the console changes and sends back', () => {
  it('keeps every digit of its numbers, and texts that look like numbers', () => {
    const json = '{"a":0.012500000000000001,"b":["1",-2e3,null,true],"c":"{\\"#\\":\\"5\\"}"}';
    expect(writeExact(parseExact(json))).to.equal(json);
  });

  it('has numbers that are told from texts', () => {
    expect(parseExact('{"a":1.10,"b":"1.10"}')).to.deep.equal({ a: { '#': '1.10' }, b: '1.10' });
  });

  it('knows what is a number', () => {
    for (const text of ['0', '-1', '12.50', '0.1']) expect(isNumberText(text)).to.equal(true);
    for (const text of ['', '-', '.5', '1.', '01', '1e3', '1,5', ' 1', '1"']) {
      expect(isNumberText(text), text).to.equal(false);
    }
  });
});
