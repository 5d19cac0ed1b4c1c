import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { definitionLimits } from '../../src/messages/definitions/definition.js';
import { historiesOf, workflowIdOf } from '../support/servers/histories.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const set = { set: { n: '${ input.n + 1 }', inner: '${ input.inner }' } };
/** One run of the loop, and in each of its turns one of the loop in it and one of each of its turns. */
const loops = {
  outer: {
    for: { each: 'x', in: '${ workflow.input.outer }' },
    do: [{ inner: { for: { each: 'y', in: '${ workflow.input.inner }' }, do: [{ add: set }] } }],
  },
};
const listOf = (length: number): number[] => Array.from({ length }, (_each, index) => index);
/** 1 + 99 * (1 + 100) = 10,000; one more turn begins with run 10,001. */
const most = { n: 0, outer: listOf(99), inner: listOf(100) };
const tooMany = { ...most, outer: listOf(100) };

describe("tenants' workflows: as many runs of tasks as may be", function () {
  this.timeout(240_000);
  const instance = useInstance({ withWorkers: true, flowTimeoutMs: 1_000 });
  const tenant = useTenant(instance);
  before(async () => {
    const document = { dsl: '1.0.0', namespace: 'test', name: 'loops', version: '1.0.0' };
    await tenant.post('/v1/workflows', { definition: { document, do: [loops] } }).expect(201);
  });

  /** Whoever waits for the end is told that it goes on, and where; then it ends. */
  async function run(data: object): Promise<Body> {
    const path = '/v1/workflows/loops';
    const { body } = await tenant.post(`${path}/execute`, { data }).expect(504);
    const { flowExecutionId: id } = body.error.details;
    // Not without a pause: asking takes the processor from what is asked for.
    for (; ; await wait(100)) {
      const shown = (await tenant.get(`${path}/executions/${id}`).expect(200)).body;
      if (shown.status !== 'running') {
        const timeline = `${path}/executions/${id}/timeline?limit=1`;
        const { total } = (await tenant.get(timeline).expect(200)).body.pagination;
        return { ...shown, id, total };
      }
    }
  }

  // spec/beyond.md R333
  it('10,000 are done', async () => {
    const ended = await run(most);
    expect(ended).to.deep.include({ status: 'completed', error: null, total: 10_000 });
    expect(ended.output.n).to.equal(9_900);
    // Others have their turn meanwhile, and it waits for nobody: a timer of a millisecond takes a second.
    const { waiter } = instance.platform.temporal;
    const [history, ...more] = await historiesOf(waiter, await workflowIdOf(tenant, ended.id));
    const count = (name: 'timerStartedEventAttributes' | 'activityTaskScheduledEventAttributes') =>
      history?.events?.filter((event) => event[name]).length;
    expect(more).to.deep.equal([]);
    expect(count('timerStartedEventAttributes')).to.equal(0);
    expect(count('activityTaskScheduledEventAttributes')).to.be.within(15, 60);
  });

  it('the next one fails at its place, and with it the execution', async () => {
    const { status, error, total } = await run(tooMany);
    expect(status).to.equal('failed');
    expect(error).to.include({ code: 'LIMIT_REACHED', status: 409 });
    expect(total).to.equal(definitionLimits.taskRuns);
    const fault = error.details.error;
    expect(fault).to.deep.include({ status: 500, instance: '/do/0/outer/do/0/inner' });
    expect(fault.detail).to.equal('An execution runs at most 10000 tasks.');
  });
});
