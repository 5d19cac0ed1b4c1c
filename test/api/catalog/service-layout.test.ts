import { expect } from 'chai';
import { makeService, noSuchId, services } from '../../support/billing/catalog.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const layoutOf = (serviceId: string) => `/api/v1/service-layout/${serviceId}`;

/** Nothing of this survives JSON.parse: numbers, the order of keys, a key that comes twice. */
const document =
  '{"2":1.0,"10":{"b":1e400,"a":-0.10},"1":12345678901234567890.12345678901234567890,' +
  '"text":"caf\\u00e9 \\"$1\\" \u2028","twice":1,"twice":2,"list":[ ]}';

describe('the estimation layout of a service', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const dataOf = (text: string) => text.slice(text.indexOf('"data":') + '"data":'.length, -1);

  // spec/platform.md R13
  it('is returned as it was saved, letter by letter', async () => {
    const { id } = await makeService(tenant);
    const saved = await tenant.put(layoutOf(id), ` \n${document}\n`).expect(200);
    expect(dataOf(saved.text)).to.equal(document);
    const { text, body, headers } = await tenant.get(layoutOf(id)).expect(200);
    expect(dataOf(text)).to.equal(document);
    expect(body).to.include({ success: true, status: 200 });
    expect(body.errors).to.deep.equal([]);
    expect(body.requestId).to.equal(headers['x-request-id']);
  });

  it('is the last one that was saved', async () => {
    const { id } = await makeService(tenant);
    await tenant.put(layoutOf(id), { groups: [1] }).expect(200);
    await tenant.put(layoutOf(id), {}).expect(200);
    const { body } = await tenant.get(layoutOf(id)).expect(200);
    expect(body.data).to.deep.equal({});
  });

  it('is one, however many are saved at once', async () => {
    const { id } = await makeService(tenant);
    await Promise.all(
      Array.from({ length: 8 }, (_, number) => tenant.put(layoutOf(id), { number }).expect(200)),
    );
    const { body } = await tenant.get(layoutOf(id)).expect(200);
    expect(body.data.number).to.be.within(0, 7);
  });

  it('is 404 before the first, for no service, and for one that was deleted', async () => {
    const { id } = await makeService(tenant);
    const { body } = await tenant.get(layoutOf(id)).expect(404);
    expect(body).to.include({ status: 404, error: 'Not Found', path: `uri=${layoutOf(id)}` });
    expect(body.message).to.equal(`The service '${id}' has no layout.`);
    await tenant.get(layoutOf(noSuchId)).expect(404);
    await tenant.put(layoutOf(noSuchId), {}).expect(404);
    await tenant.get(layoutOf('nonsense')).expect(404);
    await tenant.put(layoutOf(id), { a: 1 }).expect(200);
    await tenant.delete(`${services}/${id}`).expect(204);
    await tenant.get(layoutOf(id)).expect(404);
    await tenant.put(layoutOf(id), {}).expect(404);
  });

  // spec/platform.md R13
  it('is a JSON object within the limits of bodies', async () => {
    const { id } = await makeService(tenant);
    for (const text of ['[]', '"x"', '1e400', 'null', '{"a":', '{"a":"\\u0000"}', '']) {
      await tenant.put(layoutOf(id), text).expect(400);
    }
    // Bodies nest 64 levels deep at most.
    const nested = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
    await tenant.put(layoutOf(id), nested(65)).expect(400);
    await tenant.put(layoutOf(id), `{"a":"${'x'.repeat(1024 * 1024)}"}`).expect(413);
    await tenant.get(layoutOf(id)).expect(404);
    await tenant.put(layoutOf(id), nested(64)).expect(200);
  });

  it('is of its tenant, and needs the role ADMIN', async () => {
    const { id } = await makeService(tenant);
    await tenant.put(layoutOf(id), { a: 1 }).expect(200);
    const stranger = await instance.tenant();
    await stranger.get(layoutOf(id)).expect(404);
    await stranger.put(layoutOf(id), {}).expect(404);
    const weak = await instance.tenant(['TENANTADMIN']);
    await weak.get(layoutOf(id)).expect(403);
    await weak.put(layoutOf(id), {}).expect(403);
  });
});
