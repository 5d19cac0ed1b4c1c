import { expect } from 'chai';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** Executions of one tenant that wait for a worker: three times as many as one process carries out. */
const waiting = 60;

describe("tenants' workflows: whose turn it is", () => {
  const instance = useInstance({ withWorkers: true });
  const loud = useTenant(instance);
  const quiet = useTenant(instance);

  const definition = (name: string, tasks: object[]) => ({
    definition: {
      document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
      do: tasks,
    },
  });

  // spec/beyond.md R391
  it('goes from tenant to tenant, however many executions of one of them wait', async () => {
    const step = { step: { set: { list: '${ input.list }' } } };
    const loop = { loop: { for: { in: '${ input.list }' }, do: [step, { again: step.step }] } };
    await loud.post('/v1/workflows', definition('loops', [loop])).expect(201);
    await quiet.post('/v1/workflows', definition('short', [{ a: { set: { n: 1 } } }])).expect(201);

    const data = { list: Array.from({ length: 1_000 }, (_each, index) => index) };
    const starts = Array.from({ length: waiting }, () =>
      loud.post('/v1/workflows/loops/execute', { data, async: true }).expect(200),
    );
    await Promise.all(starts);
    const { body } = await quiet.post('/v1/workflows/short/execute', { data: {} }).expect(200);
    expect(body.output).to.deep.equal({ n: 1 });

    const { body: left } = await loud
      .get('/v1/workflows/loops/executions?status=running&limit=100')
      .expect(200);
    // In the order of their arrival, all but those that one process carries out would have ended.
    expect(left.data.length).to.be.greaterThan(waiting / 2);
    await loud.delete('/v1/workflows/loops?force=true').expect(204);
    // Sixty thousand turns on one processor: it holds an order, and no time.
  }).timeout(120_000);
});
