import { expect } from 'chai';
import { HiddenSecrets } from '../../../src/activities/workflows/hidden-secrets.js';
import { marksOf } from '../../../src/activities/workflows/text-marks.js';

const bytesOf = (marks: string): Buffer => Buffer.from(marks.slice(1), 'hex');

/** Whether something with these marks may have the secret, as the database asks. */
const mayHave = (marks: string, secret: string): boolean =>
  new HiddenSecrets([secret]).marks.some((sought) => {
    const [of, wanted] = [bytesOf(marks), bytesOf(sought)];
    return (
      of.length === wanted.length && wanted.every((byte, at) => ((of[at] ?? 0) & byte) === byte)
    );
  });

// spec/beyond.md R408
describe('marks of what values are made of', () => {
  const odd = 'Āb/c "4713" 50%';
  const long = Array.from({ length: 1_200 }, (_each, at) => `entry ${at}`).join(' ');
  const holding: readonly [string, string, unknown][] = [
    ['as itself', odd, { token: `Bearer ${odd}` }],
    ['in JSON', odd, { inside: JSON.stringify({ a: [odd] }) }],
    ['in an address', odd, [`https://crm.example/?t=${encodeURIComponent(odd)}`]],
    ['in HTML', '<4713>', ['a &lt;4713&gt; b']],
    ['in base64', odd, Buffer.from(odd).toString('base64')],
    ['as a name', 'token-4713', { 'token-4713': null }],
    ['as a number', '4713', { n: 4713 }],
    ['as a boolean', 'true', [true]],
    ['of one sign', '"', [['"']]],
    ['of two signs', 'é7', 'é7'],
    ['in much else', 'entry 1199', long],
    ['in far more than there are marks for', 'entry 9999', long.repeat(9) + ' entry 9999'],
  ];
  for (const [name, secret, value] of holding) {
    it(`are those of a secret ${name}`, async () => {
      expect(JSON.stringify(await new HiddenSecrets([secret]).json(value))).to.contain('***');
      expect(mayHave(marksOf([null, value]), secret)).to.equal(true);
    });
  }

  const values: readonly [string, unknown][] = [
    ['short', { name: 'acme', note: '50% "off"', n: 7 }],
    ['of some hundred characters', long.slice(0, 1_500)],
    ['long', long],
  ];
  for (const [name, value] of values) {
    it(`are hardly ever those of a secret that is not in what is ${name}`, () => {
      const marks = marksOf([value]);
      const secrets = Array.from({ length: 200 }, (_each, at) => `Qz#${at}~${at * 7}-secret`);
      expect(secrets.filter((secret) => mayHave(marks, secret))).to.deep.equal([]);
    });
  }
});
