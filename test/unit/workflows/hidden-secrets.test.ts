import { expect } from 'chai';
import { HiddenSecrets } from '../../../src/activities/workflows/hidden-secrets.js';
import { httpRequestOf } from '../../../src/activities/workflows/http-request.js';
import { fillSecrets, markedSecrets } from '../../../src/messages/definitions/http-call.js';

const secret = 'q"7/ä ß+key';

describe('secrets that a server repeats', () => {
  const hiding = new HiddenSecrets([secret, 'key', '4711']);
  const forms: readonly [string, string][] = [
    ['as they are', secret],
    ['within JSON', JSON.stringify(secret)],
    ['within an address', encodeURIComponent(secret)],
    ['within an address in small letters', encodeURIComponent(secret).toLowerCase()],
    ['within a form', new URLSearchParams({ a: secret }).toString()],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64 for addresses', Buffer.from(secret).toString('base64url')],
    ['in hexadecimal', Buffer.from(secret).toString('hex')],
  ];
  for (const [name, text] of forms) {
    it(`are hidden ${name}`, async () => {
      const shown = await hiding.text(`before ${text} after`);
      expect(shown).to.match(/^before .*\*\*\*.* after$/);
      for (const [, form] of forms) expect(shown).not.to.contain(form);
      expect(shown.length).to.be.at.most('before "a=***" after'.length);
    });
  }

  const odd = `it's (a) !*~/:é<"%41\n`;
  const encoded = encodeURIComponent(odd);
  const everySign = [...Buffer.from(odd)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
  const spellings: readonly [string, string][] = [
    ['as itself', odd],
    ['by encodeURIComponent', encoded],
    ['by encodeURI', encodeURI(odd)],
    [
      'as RFC 3986 has it',
      encoded.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`),
    ],
    ['as a form', new URLSearchParams({ a: odd }).toString().slice('a='.length)],
    ['with every sign encoded', everySign.join('')],
    ['with one byte for a letter', encoded.replace('%C3%A9', '%E9')],
    ['in JSON', JSON.stringify(odd).slice(1, -1)],
    [
      'in JSON with codes',
      JSON.stringify(odd)
        .slice(1, -1)
        .replace('é', String.raw`\u00E9`)
        .replace('/', String.raw`\/`),
    ],
    ['in HTML', odd.replace('<', '&lt;').replace('"', '&quot;').replace("'", '&#39;')],
    ['in HTML with codes', odd.replace('<', '&#x3C;').replace('"', '&#34;').replace("'", '&apos;')],
    ['in base64 in an address', encodeURIComponent(Buffer.from(odd).toString('base64'))],
  ];
  for (const [name, text] of spellings) {
    it(`are hidden ${name}, whichever signs it leaves as they are`, async () => {
      const shown = await new HiddenSecrets([odd, 'a']).text(`%20 b${text} & \\ ${text}`);
      expect(shown).to.equal('%20 b*** & \\ ***');
    });
  }

  it('cost no more than the answer is long', async () => {
    const secrets = Array.from({ length: 100 }, (_each, at) => `${at}${'~'.repeat(3_990)}`);
    const hiding = new HiddenSecrets(secrets);
    const text = `%7e${'~'.repeat(131_000)}`;
    const since = performance.now();
    expect(await hiding.text(text)).to.equal(text);
    expect(performance.now() - since).to.be.below(1_000);
  });

  it('cost no more where text and secrets repeat one sign', async () => {
    const secrets = Array.from(
      { length: 20 },
      (_each, at) => 'a'.repeat(2_000 + at) + 'b' + 'a'.repeat(1_900),
    );
    const hiding = new HiddenSecrets(secrets);
    const text = 'a'.repeat(131_000);
    const since = performance.now();
    expect(await hiding.text(text)).to.equal(text);
    expect(await hiding.text(`${text}b${text}`)).to.equal(
      `${'a'.repeat(131_000 - 2_019)}***${'a'.repeat(131_000 - 1_900)}`,
    );
    expect(performance.now() - since).to.be.below(1_000);
  });

  const manySecrets = (make: (at: number) => string) =>
    new HiddenSecrets(Array.from({ length: 100 }, (_each, at) => make(at)));
  const portioned: readonly [string, HiddenSecrets, readonly string[]][] = [
    [
      'however many texts an answer has',
      manySecrets((at) => `secret-${at}`),
      Array.from({ length: 4_000 }, (_each, at) => `%7e a text ${at}`),
    ],
    [
      'where a long text has not even the beginning of long secrets',
      manySecrets((at) => `${'a'.repeat(60)}b${'a'.repeat(2_000 + at)}`),
      ['a'.repeat(131_000)],
    ],
  ];
  for (const [name, hiding, texts] of portioned) {
    it(`are looked for in portions, ${name}`, async () => {
      let isDone = false;
      let turns = 0;
      const turn = (): void => {
        turns += 1;
        if (!isDone) setImmediate(turn);
      };
      setImmediate(turn);
      expect(await hiding.json(texts)).to.deep.equal(texts);
      isDone = true;
      expect(turns).to.be.above(1);
    });
  }

  it('are hidden in names, texts and numbers of JSON', async () => {
    const given = { [secret]: [`Bearer ${secret}`, 4711, 4712, true, null], n: { deep: 'key' } };
    expect(await hiding.json(given)).to.deep.equal({
      '***': ['Bearer ***', '***', 4712, true, null],
      n: { deep: '***' },
    });
  });
});

// spec/beyond.md R335
describe('marks of secrets', () => {
  const mark = 'a1b2c3d4-0000-4000-8000-000000000001';
  const { CRM } = markedSecrets(mark, ['CRM']);

  it('are filled where they stand, and nothing else is', () => {
    const foreign = markedSecrets('a1b2c3d4-0000-4000-8000-000000000002', ['CRM'])['CRM'];
    const given = { headers: { a: `Bearer ${CRM}` }, body: [CRM, foreign, '{{CRM}}', 7, null] };
    expect(fillSecrets(given, mark, (name) => `value of ${name} $&`)).to.deep.equal({
      headers: { a: 'Bearer value of CRM $&' },
      body: ['value of CRM $&', foreign, '{{CRM}}', 7, null],
    });
  });
});

describe('the request of a call', () => {
  const base = { method: 'POST', endpoint: 'https://crm.example/v1?a=1' } as const;

  it('has its query, a key, and a body of its type', () => {
    const post = httpRequestOf(
      { ...base, query: { b: [1, 'x y'], none: null }, body: { n: 1 } },
      'execution/7',
    );
    expect(post).to.deep.include({
      url: 'https://crm.example/v1?a=1&b=1&b=x+y',
      method: 'POST',
      body: '{"n":1}',
    });
    expect(post.headers).to.include({
      'idempotency-key': 'execution/7',
      'content-type': 'application/json',
    });
    const form = httpRequestOf(
      {
        ...base,
        headers: {
          'Content-Type': 'application/x-www-form-urlencoded',
          'Idempotency-Key': 'own',
        },
        body: { grant_type: 'client credentials', n: 1 },
      },
      'execution/7',
    );
    expect(form.body).to.equal('grant_type=client+credentials&n=1');
    expect(form.headers).to.include({ 'idempotency-key': 'own' });
    expect(httpRequestOf({ ...base, body: 'text' }, 'k').headers['content-type']).to.equal(
      'text/plain; charset=utf-8',
    );
  });

  const refused: readonly [string, object, RegExp][] = [
    ['another protocol', { endpoint: 'file:///etc/passwd' }, /endpoint/],
    ['no address', { endpoint: 7 }, /endpoint/],
    ['a password in the address', { endpoint: 'https://a:b@crm.example' }, /name or password/],
    ['the host of another', { headers: { Host: 'other.example' } }, /set by the connection/],
    ['a length', { headers: { 'content-length': '0' } }, /set by the connection/],
    ['a line break', { headers: { a: 'x\r\nb: y' } }, /line breaks/],
    ['a name with a line break', { headers: { 'a\r\nb': 'x' } }, /no name of a header/],
    ['a header that is an object', { headers: { a: {} } }, /must be a text/],
    ['headers that are none', { headers: 'x' }, /must be an object/],
    ['another method', { method: 'CONNECT' }, /method/],
    ['a body of GET', { method: 'GET', body: {} }, /not for GET/],
    ['a large body', { body: 'x'.repeat(262_145) }, /262144 bytes/],
    ['a long address', { endpoint: `https://crm.example/${'x'.repeat(17_000)}` }, /16384/],
    ['an object in the query', { query: { a: {} } }, /query.a/],
  ];
  for (const [name, more, message] of refused) {
    it(`is refused with ${name}`, () => {
      expect(() => httpRequestOf({ ...base, ...more }, 'k')).to.throw(message);
    });
  }
});
