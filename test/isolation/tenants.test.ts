import { expect } from 'chai';
import type { Operation } from '../../src/schemas/http/operation.js';
import { declaredOperations } from '../support/http/answers.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { changed, placesIn, type Schema } from '../support/http/places.js';
import { openPhotographer, type Photographer, type Snapshot } from '../support/servers/rows.js';
import { waitUntilRated } from '../support/billing/usage.js';
import {
  bodyIn,
  buildWorld,
  pathIn,
  queryIn,
  sharedParams,
  type World,
} from '../support/http/world.js';

/** Properties that refer to a record although they hold no UUID. */
const textReferences = new Set([
  'accountExtId',
  'billingAccountRef',
  'account_id',
  'master_account_id',
  'Service_ID',
]);

/** Operations whose body chooses records: another tenant's id chooses none. */
const filters = new Set(['retryUsageEvents', 'dismissUsageEvents']);

/** The places of a body that may refer to a record. */
const referencesIn = (schema: Schema, body: object) =>
  placesIn(schema, body).filter(
    (place) => place.schema['format'] === 'uuid' || textReferences.has(place.name),
  );

const pathParams = ({ path }: Operation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

describe('one tenant and the records of another', () => {
  let instance: TestInstance;
  let owner: World;
  let stranger: World;
  let photographer: Photographer;
  let stored: Snapshot;

  const send = ({ method }: Operation, path: string, body?: object) => {
    const { tenant } = stranger;
    if (method === 'GET') return tenant.get(path);
    if (method === 'DELETE') return tenant.delete(path);
    return method === 'PUT' ? tenant.put(path, body) : tenant.post(path, body);
  };

  /** Fails when an answer holds anything of the owner's that was not sent. */
  const expectNothingOfOwner = (text: string, sent: readonly string[]) => {
    const unsent = sent
      .flatMap((value) => [value, encodeURIComponent(value)])
      .reduce((rest, value) => rest.replaceAll(value, ''), text);
    const ids = new Set([...Object.values(owner.params), ...Object.values(owner.references)]);
    for (const name of sharedParams) ids.delete(owner.params[name] ?? '');
    for (const secret of [owner.tenant.id, ...ids]) expect(unsent).to.not.include(secret);
  };

  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    owner = await buildWorld(await instance.tenant());
    stranger = await buildWorld(await instance.tenant());
    photographer = await openPhotographer(instance.databaseUrl, owner.tenant.id);
    stored = await photographer.take();
  });
  after(async () => {
    await photographer.close();
    await instance.close();
  });
  afterEach(async () => {
    expect(await photographer.take(), "the owner's rows").to.deep.equal(stored);
  });

  // Before the stranger has asked for records of the owner: why its executions failed names these.
  for (const operation of declaredOperations) {
    const { id, method, path, query } = operation;
    if (method !== 'GET' || pathParams(operation).some((name) => !sharedParams.has(name))) continue;
    // spec/resources.md R3
    it(`${id}: shows nothing of another tenant, asked for its ids or not`, async () => {
      const own = pathIn(stranger, path) + queryIn(stranger, operation);
      const plain = await stranger.tenant.get(own).expect(operation.success.status);
      // A picture is no text to superagent.
      expectNothingOfOwner(plain.text ?? String(plain.body), []);
      const fields = Object.entries(query?.properties ?? {}) as [string, Schema][];
      for (const [name] of fields.filter(([, schema]) => schema['format'] === 'uuid')) {
        const value = owner.references[name];
        if (value === undefined) throw new Error(`world.ts has no reference '${name}'.`);
        const answer = await stranger.tenant.get(`${pathIn(stranger, path)}?${name}=${value}`);
        expect(answer.status, answer.text).to.be.oneOf([200, 400, 404]);
        expectNothingOfOwner(answer.text, [value]);
      }
    });
  }

  for (const operation of declaredOperations) {
    const { id, method, path, body, example } = operation;
    const params = pathParams(operation);
    const secrets = params.filter((name) => !sharedParams.has(name));

    if (method === 'GET') {
      it(`${id}: the owner reads it`, async () => {
        const address = pathIn(owner, path) + queryIn(owner, operation);
        await owner.tenant.get(address).expect(operation.success.status);
      });
    }

    if (secrets.length > 0) {
      // spec/resources.md R3
      it(`${id}: the address of another tenant's record leads nowhere`, async () => {
        const address = pathIn(owner, path) + queryIn(owner, operation);
        const answer = await send(operation, address, body && bodyIn(stranger, example ?? {}));
        expect(answer.status, answer.text).to.equal(404);
        expectNothingOfOwner(answer.text, [...Object.values(owner.params)]);
      });
    }
  }

  for (const operation of declaredOperations.filter(({ body }) => body)) {
    const { id, path, body, example = {} } = operation;
    for (const { path: place, name } of referencesIn(body as unknown as Schema, example)) {
      it(`${id}: ${place.join('.')} cannot name another tenant's record`, async () => {
        const foreign = owner.references[name];
        if (foreign === undefined) throw new Error(`world.ts has no reference '${name}'.`);
        const own = bodyIn(stranger, example);
        const answer = await send(operation, pathIn(stranger, path), changed(own, place, foreign));
        const refusals = filters.has(id) ? [200] : [400, 404];
        expect(answer.status, answer.text).to.be.oneOf(refusals);
        expectNothingOfOwner(answer.text, [foreign]);
      });
    }
  }

  it('a usage event is not found by the id that its producer gave it', async () => {
    const events = await owner.tenant.get('/v1/usage-events').expect(200);
    const { externalTransactionId } = events.body.data[0];
    const path = `/v1/usage-events/${encodeURIComponent(externalTransactionId)}`;
    await owner.tenant.get(path).expect(200);
    const answer = await stranger.tenant.get(path).expect(404);
    expectNothingOfOwner(answer.text, [externalTransactionId]);
  });

  // spec/rating.md R55
  it('the same usage event of two tenants is two events', async () => {
    const events = await owner.tenant.get('/v1/usage-events').expect(200);
    const { externalTransactionId } = events.body.data[0];
    const { example = {} } = declaredOperations.find(({ id }) => id === 'ingestUsage') ?? {};
    const { message } = bodyIn(stranger, example) as { message: object };
    await stranger.tenant
      .post('/v1/ingest/usage', { message: { ...message, externalTransactionId } })
      .expect(200);
    expect(await waitUntilRated(stranger.tenant, 2)).to.include({ rated: 2, duplicate: 0 });
  });

  it('may use the same names and numbers', async () => {
    const { tenant } = stranger;
    const number = `A-1001 ${owner.tenant.id}`;
    const { body } = await tenant
      .post('/api/v1/external/accounts', {
        name: 'Acme',
        number,
        externalId: `acme ${owner.tenant.id}`,
      })
      .expect(201);
    expect(body.number).to.equal(number);
  });
});
