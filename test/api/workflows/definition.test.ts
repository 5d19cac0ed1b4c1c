import { expect } from 'chai';
import { examples } from '../../../src/schemas/openapi/examples.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const { definition } = examples.workflow;
const named = (name: string, more: object = {}) => ({
  definition: { ...definition, document: { ...definition.document, name }, ...more },
});

describe("tenants' workflows: definitions", () => {
  const instance = useInstance();
  const tenant = useTenant(instance, { forEachTest: true });

  // spec/beyond.md R320, R321
  it('are made, read, listed, changed and deleted', async () => {
    const made = (await tenant.post('/v1/workflows', named('first')).expect(201)).body;
    expect(made).to.include({ name: 'first', version: 1 });
    expect(made.hash).to.match(/^[0-9a-f]{64}$/);

    const same = await tenant.put(`/v1/workflows/${made.id}`, named('first')).expect(200);
    expect(same.body).to.deep.equal(made);
    const changed = { do: [{ done: { set: { size: 'any' } } }] };
    const next = (await tenant.put('/v1/workflows/first', named('first', changed)).expect(200))
      .body;
    expect(next).to.include({ id: made.id, version: 2 });
    expect(next.hash).not.to.equal(made.hash);
    // spec/beyond.md R608
    const behind = {
      ...named('first', { do: [{ other: { set: { size: 'none' } } }] }),
      basedOn: 1,
    };
    const { error } = (await tenant.put('/v1/workflows/first', behind).expect(409)).body;
    expect(error.details).to.deep.equal({ field: 'basedOn', value: 1, version: 2 });
    expect(error.message).to.include('Version 2 is live, and this is based on version 1');
    // Whoever had no answer sends the same again.
    for (const basedOn of [1, 2]) {
      const again = { ...named('first', changed), basedOn };
      expect((await tenant.put('/v1/workflows/first', again).expect(200)).body.version).to.equal(2);
    }
    await tenant.put('/v1/workflows/first', { ...behind, basedOn: 0 }).expect(400);
    await tenant.put('/v1/workflows/first', { ...behind, basedOn: '2' }).expect(400);

    const shown = (await tenant.get('/v1/workflows/first').expect(200)).body;
    expect(shown.definition).to.deep.equal(named('first', changed).definition);
    expect(shown.versions.map(({ version }: { version: number }) => version)).to.deep.equal([2, 1]);
    expect(shown.versions[0].publishedBy).to.equal('tester');
    expect(shown.dataSchema.required).to.deep.equal(['amount']);
    const before = (await tenant.get('/v1/workflows/first?version=1').expect(200)).body;
    expect(before).to.include({ id: made.id, version: 1, hash: made.hash });
    expect(before.definition).to.deep.equal(named('first').definition);
    await tenant.get('/v1/workflows/first?version=3').expect(404);
    await tenant.get('/v1/workflows/first?version=0').expect(400);

    const listed = (await tenant.get('/v1/workflows?limit=1000').expect(200)).body;
    expect(listed.data.at(-1)).to.include({ id: made.id, name: 'first', version: 2 });
    expect(listed.pagination.total).to.equal(listed.data.length);

    await tenant.delete(`/v1/workflows/${made.id}`).expect(204);
    await tenant.get(`/v1/workflows/${made.id}`).expect(404);
    await tenant.post('/v1/workflows', named('first')).expect(201);
  });

  it('have names that are unique, and none of the built-in ones', async () => {
    await tenant.post('/v1/workflows', named('mine')).expect(201);
    const other = (await tenant.post('/v1/workflows', named('other')).expect(201)).body;
    await tenant.post('/v1/workflows', named('mine')).expect(409);
    // A workflow keeps its name: another one in its definition is a mistake.
    for (const name of ['mine', 'third']) {
      const { error } = (await tenant.put(`/v1/workflows/${other.id}`, named(name)).expect(400))
        .body;
      expect(error.message).to.contain(`'${name}'`).and.contain("'other'");
      expect(error.details.field).to.equal('definition.document.name');
    }
    expect((await tenant.get(`/v1/workflows/${other.id}`).expect(200)).body.name).to.equal('other');
    for (const name of ['billing-run', 'flow-batch', 'decide-approval']) {
      await tenant.post('/v1/workflows', named(name)).expect(409);
    }
    for (const name of ['schema', 'validate', other.id]) {
      const { error } = (await tenant.post('/v1/workflows', named(name)).expect(400)).body;
      expect(error.details.faults[0].pointer).to.equal('/document/name');
    }
    await tenant.put('/v1/workflows/billing-run', named('billing-run')).expect(409);
    await tenant.delete('/v1/workflows/billing-run').expect(409);
    await tenant.put('/v1/workflows/nothing', named('nothing')).expect(404);
    await tenant.delete('/v1/workflows/nothing').expect(404);
  });

  it('are those of their tenant', async () => {
    const { id } = (await tenant.post('/v1/workflows', named('mine')).expect(201)).body;
    const other = await instance.tenant();
    await other.get(`/v1/workflows/${id}`).expect(404);
    await other.get('/v1/workflows/mine').expect(404);
    await other.put(`/v1/workflows/${id}`, named('mine')).expect(404);
    await other.delete(`/v1/workflows/${id}`).expect(404);
    await other.post('/v1/workflows', named('mine')).expect(201);
  });

  it('are changed by ADMIN alone', async () => {
    const operator = await instance.tenant(['OPERATOR']);
    await operator.post('/v1/workflows', named('mine')).expect(403);
    await operator.post('/v1/workflows/validate', named('mine')).expect(200);
    await operator.put('/v1/secrets/CRM', { value: 'x' }).expect(403);
  });

  // spec/beyond.md R323 to R325
  it('have all their faults named, each at its place', async () => {
    const faulty = {
      definition: {
        document: { dsl: '1.0.0', namespace: 'a', name: 'Bad Name', version: '1.0.0' },
        colour: 'red',
        do: [
          { look: { call: 'durabill.operation', with: { operationId: 'getAcount' } } },
          {
            judge: {
              if: 'input.x',
              set: { a: '${ foo + 1 }', b: '${ 1 + }', c: 'Hi ${ input.x }' },
            },
          },
          { back: { set: {}, then: 'look' } },
          { crm: { call: 'http', with: { method: 'GET', endpoint: '${ secrets.CRM }' } } },
          { odd: { wait: '1 hour' } },
          { none: {} },
          { odd: { call: 'durabill.billing-runs' } },
        ],
      },
    };
    const { body } = await tenant.post('/v1/workflows/validate', faulty).expect(200);
    expect(body.valid).to.equal(false);
    expect(body.faults.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      '/colour',
      '/document/name',
      '/do/0/look/with/operationId',
      '/do/1/judge/if',
      '/do/1/judge/set/a',
      '/do/1/judge/set/b',
      '/do/1/judge/set/c',
      '/do/2/back/then',
      '/do/3/crm/with/endpoint',
      '/do/4/odd/wait',
      '/do/5/none',
      '/do/6/odd',
      '/do/6/odd/call',
    ]);
    const { error } = (await tenant.post('/v1/workflows', faulty).expect(400)).body;
    expect(error.details.faults).to.deep.equal(body.faults);
    const fine = await tenant.post('/v1/workflows/validate', named('fine')).expect(200);
    expect(fine.body).to.deep.equal({ valid: true, faults: [] });
  });

  // spec/beyond.md R405
  it('have no member twice, as their files have none', async () => {
    const fine = String.raw`{"a": {"n": "\"n\": 1"}, "b": [{"n": 1}, {"n": 2}], "n": 1}`;
    const twice = String.raw`{"a": [0, {"n/1": 1, "\u006e/1": 2}], "n": 1}`;
    const textOf = (value: string, more = ''): string =>
      JSON.stringify(named('twice', { do: [{ s: { set: 'VALUE' } }] })).replace(
        '"VALUE"}}]',
        `${value}}}]${more}`,
      );
    await tenant.post('/v1/workflows', textOf(fine)).expect(201);
    const requests = [
      (text: string) => tenant.post('/v1/workflows', text),
      (text: string) => tenant.post('/v1/workflows/validate', text),
      (text: string) => tenant.put('/v1/workflows/twice', text),
    ];
    for (const send of requests) {
      const { error } = (await send(textOf(twice, ',"do":[]')).expect(400)).body;
      expect(error.message).to.contain("'definition/do/0/s/set/a/1/n~11': 'n/1' is there twice");
      expect(error.details.faults.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal(
        ['/do/0/s/set/a/1/n~11', '/do'],
      );
    }
    const whole = await tenant.post('/v1/workflows', '{"definition":{},"definition":{}}');
    expect(whole.status).to.equal(400);
    expect(whole.body.error.details.faults[0].pointer).to.equal('');
  });

  // spec/beyond.md R405
  it('are not executed with an input that has a member twice', async () => {
    await tenant.post('/v1/workflows', named('given')).expect(201);
    const text = '{"data":{"amount":1,"of":[{"n/1":2,"n/1":2}]},"async":true}';
    const { error } = (await tenant.post('/v1/workflows/given/execute', text).expect(400)).body;
    const pointer = '/of/0/n~11';
    const message = "'n/1' is there twice: which of the two is meant?";
    expect(error.message).to.equal(`'data${pointer}': ${message}`);
    expect(error.details).to.deep.equal({ field: 'data', faults: [{ pointer, message }] });
    const { data } = (await tenant.get('/v1/workflows/given/executions').expect(200)).body;
    expect(data).to.deep.equal([]);
  });

  it('are answered in a bounded text, however long the names are that lead to a fault', async () => {
    const twice = '"a":1,'.repeat(101);
    const text = `{"definition":{"${'~'.repeat(500_000)}":{${twice}"b":1}}}`;
    const answer = await tenant.post('/v1/workflows/validate', text).expect(400);
    expect(answer.body.error.details.faults).to.have.length(100);
    expect(answer.text.length).to.be.below(150_000);
  });

  // spec/beyond.md R331
  it('are limited in tasks, branches and the length of expressions', async () => {
    const faultsOf = async (tasks: object[]): Promise<{ pointer: string; message: string }[]> =>
      (await tenant.post('/v1/workflows/validate', named('big', { do: tasks })).expect(200)).body
        .faults;
    const sets = (count: number) =>
      Array.from({ length: count }, (_each, index) => ({ [`t${index}`]: { set: { n: index } } }));
    expect(await faultsOf(sets(200))).to.deep.equal([]);
    expect(await faultsOf(sets(201))).to.have.length(1);
    const fork = (count: number) => [{ f: { fork: { branches: sets(count) } } }];
    expect(await faultsOf(fork(20))).to.deep.equal([]);
    expect((await faultsOf(fork(21)))[0]?.pointer).to.equal('/do/0/f/fork/branches');
    const long = (length: number) => [{ s: { set: { a: `\${ "${'x'.repeat(length - 2)}" }` } } }];
    expect(await faultsOf(long(2_000))).to.deep.equal([]);
    expect((await faultsOf(long(2_001)))[0]?.message).to.contain('2000 characters');
  });

  // spec/beyond.md R322
  it('have a JSON Schema that says what is taken', async () => {
    const { body } = await tenant.get('/v1/workflows/schema').expect(200);
    expect(body.$schema).to.equal('https://json-schema.org/draft/2020-12/schema');
    expect(Object.keys(body.$defs)).to.include.members(['taskList', 'task', 'call', 'fork']);
  });

  // spec/beyond.md R326
  it('use secrets by name, whose values are never shown', async () => {
    const uses = named('uses', {
      do: [
        {
          crm: {
            call: 'http',
            with: {
              method: 'GET',
              endpoint: 'https://crm.example/customers',
              headers: { authorization: '${ "Bearer " + secrets.CRM }' },
            },
          },
        },
      ],
    });
    await tenant.post('/v1/workflows', uses).expect(400);
    const put = await tenant.put('/v1/secrets/CRM', { value: 'hidden' }).expect(200);
    expect(put.body).to.have.all.keys('name', 'createdAt', 'updatedAt');
    await tenant.post('/v1/workflows', uses).expect(201);
    const listed = await tenant.get('/v1/secrets').expect(200);
    expect(listed.body.data).to.deep.equal([put.body]);
    await tenant.put('/v1/secrets/no-name', { value: 'x' }).expect(400);
    await tenant.delete('/v1/secrets/CRM').expect(204);
    await tenant.delete('/v1/secrets/CRM').expect(404);
    // Of a hundred others each can be given another value, and no more are taken.
    await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `insert into workflow_secret (tenant_id, id, name, sealed)
         select $1, gen_random_uuid(), 'S' || n, 'x' from generate_series(1, 100) as n`,
        [tenant.id],
      ),
    );
    await tenant.put('/v1/secrets/S1', { value: 'other' }).expect(200);
    const refused = await tenant.put('/v1/secrets/CRM', { value: 'hidden' }).expect(409);
    expect(refused.body.error.message).to.equal(
      'There are 100 secrets, the most that there may be.',
    );
    await tenant.delete('/v1/secrets/S1').expect(204);
    // Nothing but a call of http may read one.
    await tenant.put('/v1/secrets/CRM', { value: 'hidden' }).expect(200);
    const leaks = named('leaks', { do: [{ s: { set: { a: '${ secrets.CRM }' } } }] });
    await tenant.post('/v1/workflows', leaks).expect(400);
  });
});
