import { expect } from 'chai';
import { Validator } from '@seriousme/openapi-schema-validator';
import { sendRaw } from '../../support/http/raw.js';
import { useInstance } from '../../support/servers/use-instance.js';

describe('headers and documents', () => {
  const instance = useInstance();
  const get = (path: string, headers: Record<string, string> = {}) =>
    sendRaw(instance.url, { method: 'GET', path, headers });

  it('every answer may not be kept, framed, sniffed or read by other origins', async () => {
    const tenant = await instance.tenant();
    const authorized = { Authorization: `Bearer ${tenant.token}`, Origin: 'https://evil.example' };
    const answers = [
      await get('/api/v1/external/accounts', authorized),
      await get('/api/v1/external/accounts', { Origin: 'https://evil.example' }),
      await get('/nowhere', { Origin: 'null' }),
      await get('/healthz'),
      await sendRaw(instance.url, {
        method: 'OPTIONS',
        path: '/api/v1/external/accounts',
        headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
      }),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 401, 404, 200, 405]);
    for (const { headers } of answers) {
      expect(headers).to.include({
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'x-permitted-cross-domain-policies': 'none',
      });
      expect(headers['x-request-id']).to.match(/^[A-Za-z0-9._-]{1,128}$/);
      const names = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
      expect(names).to.deep.equal([]);
      expect(headers).to.not.have.property('x-powered-by');
    }
  });

  it('names the methods of a path that has not this one, in the error body of its family', async () => {
    const id = '01939c6e-7a00-7000-8000-00000000dead';
    const cases = [
      ['PATCH', '/api/v1/external/accounts', 'GET, HEAD, POST'],
      ['OPTIONS', `/api/v1/external/accounts/${id}`, 'DELETE, GET, HEAD, PUT'],
      ['DELETE', '/v1/usage-events', 'GET, HEAD'],
      ['GET', '/v1/ingest/usage', 'POST'],
      ['TRACE', '/openapi.json', 'GET, HEAD'],
      // Also where a path with a parameter would fit.
      ['GET', '/v1/usage-events/retry', 'POST'],
      ['OPTIONS', '/v1/mobjects/any/mdata/bulk', 'POST'],
      ['GET', '/api/service-price-matrix/insert', 'POST'],
    ] as const;
    const texts = [];
    for (const [method, path, allowed] of cases) {
      const answer = await sendRaw(instance.url, { method, path });
      expect(answer.status, `${method} ${path}`).to.equal(405);
      expect(answer.headers.allow, path).to.equal(allowed);
      texts.push(answer.text);
    }
    const [billing, , records, ingestion] = texts.map((text) => JSON.parse(text) as object);
    expect(billing).to.include({
      status: 405,
      error: 'Method Not Allowed',
      path: 'uri=/api/v1/external/accounts',
    });
    expect(records).to.have.nested.property('error.code', 'METHOD_NOT_ALLOWED');
    expect(ingestion).to.include({ status_code: 405 });
    const nowhere = await sendRaw(instance.url, { method: 'PATCH', path: '/nowhere' });
    expect([nowhere.status, nowhere.headers.allow]).to.deep.equal([404, undefined]);
  });

  it('reads a long address, and says what is wrong with it', async () => {
    const tenant = await instance.tenant();
    const answer = await tenant.get(`/api/v1/external/accounts?q=${'x'.repeat(30_000)}`);
    expect(answer.status).to.equal(400);
    expect(answer.body.message).to.include("'q'");
  });

  // spec/resources.md R10
  it('keeps a sane request id and replaces any other', async () => {
    const sane = await get('/nowhere', { 'X-Request-Id': 'abc-123_X.y' });
    expect(sane.headers['x-request-id']).to.equal('abc-123_X.y');
    for (const given of ['a b', 'x'.repeat(129), '<script>']) {
      const answer = await get('/nowhere', { 'X-Request-Id': given });
      expect(answer.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it('serves the OpenAPI document, valid, and only when it has changed', async () => {
    const first = await get('/openapi.json');
    expect(first.status).to.equal(200);
    const document = JSON.parse(first.text) as object;
    expect(document).to.include({ openapi: '3.1.0' });
    // With the picklists of the database in it.
    expect(first.text).to.include('"Due on Receipt"');
    expect(await new Validator().validate({ ...document })).to.deep.equal({ valid: true });
    const { etag } = first.headers;
    const again = await get('/openapi.json', { 'If-None-Match': String(etag) });
    expect([again.status, again.text]).to.deep.equal([304, '']);
    const other = await get('/openapi.json', { 'If-None-Match': '"other"' });
    expect(other.status).to.equal(200);
  });

  it('compresses the documents for those who can read it', async () => {
    const answer = await fetch(`${instance.url}/docs`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(answer.headers.get('content-encoding')).to.equal('gzip');
    expect(await answer.text()).to.include('Durabill API');
    const page = await get('/docs', { 'Accept-Encoding': 'identity' });
    expect(page.headers).to.not.have.property('content-encoding');
    const script = /src="(\/docs\/scalar-[^"]+)"/.exec(page.text)?.[1] ?? '';
    const { headers, status } = await get(script);
    expect(status).to.equal(200);
    expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
  });
});
