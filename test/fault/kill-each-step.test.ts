import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { KillableProduct } from '../start/killable.js';
import {
  documentOf,
  endOfExecution,
  firstSteps,
  lastSteps,
  makeAccount,
  named,
} from '../start/killed-steps.js';
import { tellFigures } from '../start/outcome.js';
import { until } from '../start/workbench.js';

const tenantId = 'kill-each-step';
const preload = fileURLToPath(new URL('../support/servers/kill-after-step.cjs', import.meta.url));
const endMs = 600_000;
/** Each third step is enough of every change; DURABILL_KILLS=all for the long run. */
const apart = process.env['DURABILL_KILLS'] === undefined ? 3 : 1;

const key = '${ workflow.input.key }';

/** A step of each kind, in an order that no clock changes. */
const steps = {
  document: documentOf('steps'),
  do: [
    ...firstSteps,
    {
      side: {
        fork: { branches: [{ left: makeAccount(named('left')) }, { right: { set: { key } } }] },
      },
    },
    { tell: { emit: { event: { with: { type: 'custom.step', data: { of: key } } } } } },
    { rest: { wait: { milliseconds: 50 } } },
    {
      again: {
        try: [{ stop: { raise: { error: { type: 'urn:again', status: 409 } } } }],
        catch: {
          retry: { delay: { milliseconds: 50 }, limit: { attempt: { count: 2 } } },
          do: [{ go: { set: { tried: true } } }],
        },
      },
    },
    ...lastSteps,
  ],
};

const heard = {
  document: documentOf('heard'),
  schedule: { on: { one: { with: { type: 'custom.step' } } } },
  do: [{ note: { set: { of: '${ input.of }' } } }],
};

/** The execution of the first test, of which the second one knows nothing. */
const once = 'soon';

describe('an execution whose process dies after its steps in turn', function () {
  this.timeout(1_500_000);
  let product: KillableProduct;
  let folder: string;
  let token: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-steps-'));
    product = await KillableProduct.start({
      env: { NODE_OPTIONS: `--require ${preload}`, TEST_KILL_STEPS: folder },
    });
    token = await product.token(tenantId, '12h');
    await product.query(
      `update tenant set plan = 'enterprise', request_limit = 1000000 where id = '${tenantId}'`,
    );
    for (const definition of [steps, heard]) await send('/v1/workflows', { definition });
  });
  after(async () => {
    await product.close();
    await rm(folder, { recursive: true });
  });

  const send = async (path: string, body: object, key?: string): Promise<{ id: string }> => {
    const given = { body, ...(key === undefined ? {} : { key }) };
    const answer = await product.send(token, path, given);
    const text = await answer.text();
    expect(answer.ok, `${path}: ${answer.status} ${text}`).to.equal(true);
    const { id, executionId } = JSON.parse(text) as { id: string; executionId: string };
    return { id: executionId ?? id };
  };
  /** The product is started again whenever it is dead; what it did not answer is sent again. */
  const begin = async (name: string, killAfter?: string): Promise<string> => {
    const data = { key: name, fails: name.startsWith('fails'), killAfter };
    for (;;) {
      try {
        const body = { data, async: true };
        return (await send('/v1/workflows/steps/execute', body, name)).id;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        await until(() => product.isDead, endMs, 'the death of what does not answer');
        await product.launch();
      }
    }
  };
  const relaunch = async (): Promise<void> => {
    if (product.isDead) await product.launch();
  };
  const endOf = (id: string) => endOfExecution(product, { tenantId, id, endMs }, relaunch);
  /** All that an execution leaves, but for the name that it was given. */
  const leftBy = async (name: string, id: string): Promise<string> => {
    const ended = await endOf(id);
    const timeline = await product.query<object>(
      `select seq, path, name, kind, status, undone_at is not null as undone, error as why
       from workflow_task where tenant_id = '${tenantId}' and execution_id = '${id}' order by seq`,
    );
    const accounts = await product.query<object>(
      `select name, net_term, deleted_at is not null as deleted, external_id from account
       where tenant_id = '${tenantId}' and name like '%-${name}' order by name`,
    );
    return JSON.stringify({ ended, timeline, accounts }, null, 1).replaceAll(name, 'KEY');
  };
  const stepsOf = async (name: string): Promise<string[]> =>
    (await readFile(join(folder, `${name}.steps`), 'utf8')).trim().split('\n');

  // spec/beyond.md R400
  it('makes a call again within seconds that its process did not end', async () => {
    const id = await begin(once, 'callTask 1');
    await until(() => product.isDead, endMs, 'its death');
    await product.launch();
    const since = performance.now();
    expect((await endOf(id)).status).to.equal('completed');
    const seconds = (performance.now() - since) / 1000;
    tellFigures({ 'seconds until it has ended': seconds });
    expect(seconds).to.be.below(30);
  });

  // spec/beyond.md R396
  it('leaves what one leaves that nothing happened to', async () => {
    const killed: { name: string; id: string; kind: string }[] = [];
    const expected = new Map<string, string>();
    for (const kind of ['works', 'fails']) {
      expected.set(kind, await leftBy(`${kind}-quiet`, await begin(`${kind}-quiet`)));
    }
    expect(expected.get('works')).to.contain('"status": "completed"');
    expect(expected.get('fails')).to.contain('/do/0/first');
    const all = { works: await stepsOf('works-quiet'), fails: await stepsOf('fails-quiet') };
    // What both have is done once.
    const kinds = {
      fails: all.fails,
      works: all.works.filter((step) => !all.fails.includes(step)),
    };
    for (const [kind, own] of Object.entries(kinds)) {
      for (const [index, step] of own.entries()) {
        if (index % apart !== 0) continue;
        const name = `${kind}-${index}`;
        killed.push({ name, kind, id: await begin(name, step) });
      }
    }
    for (const { name, kind, id } of killed) {
      expect(await leftBy(name, id), name).to.equal(expected.get(kind));
    }
    // Each has told of itself once.
    const names = ['works-quiet', 'fails-quiet', ...killed.map(({ name }) => name)].sort();
    const told = async (): Promise<string[]> => {
      await relaunch();
      const rows = await product.query<{ of: string }>(
        `select output ->> 'of' as of from execution where tenant_id = '${tenantId}'
           and status = 'completed' and output ->> 'of' <> '${once}'`,
      );
      return rows.map(({ of }) => of).sort();
    };
    await until(async () => (await told()).length >= names.length, endMs, 'what hears of them');
    expect(await told()).to.deep.equal(names);
    const files = await readdir(folder);
    const deaths = files.filter((file) => file.endsWith('.killed') && file !== `${once}.killed`);
    expect(deaths).to.have.length(killed.length);
    tellFigures({ 'steps after which it died': deaths.length });
  });
});
