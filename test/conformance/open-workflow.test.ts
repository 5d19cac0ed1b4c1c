import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { json, openServer } from '../support/servers/elsewhere.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';
import { scenariosIn, type Scenario } from './feature.js';
import { endpoint, errorTypes, expressions, leftOut, notGiven } from './translations.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const folder = new URL('features/', import.meta.url);
const pets: Readonly<Record<string, object>> = {
  '/v2/pet/1': { id: 1, name: 'Rex', status: 'available' },
  '/v2/pet/2': { id: 2, name: 'Lassie', status: 'sold' },
  '/v2/pet/findByStatus': [{ id: 1, name: 'Rex', status: 'available' }],
};

const scenarios: Scenario[] = readdirSync(folder)
  .sort()
  .flatMap((file) => scenariosIn(readFileSync(new URL(file, folder), 'utf8')));

/** The definition of a scenario as it is written here. */
function translated(value: unknown, serverUrl: string): unknown {
  if (typeof value === 'string') return expressions[value] ?? errorTypes[value] ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => translated(one, serverUrl));
  return Object.fromEntries(
    Object.entries(value as Body).map(([name, one]: [string, Body]) => {
      if (name === 'method') return [name, one.toUpperCase()];
      const isPlain = name === 'endpoint' && Object.keys(one).join() === 'uri';
      return [name, isPlain ? endpoint(one.uri, serverUrl) : translated(one, serverUrl)];
    }),
  );
}

const at = (value: Body, path: string): Body =>
  path.split('.').reduce((of, name) => of?.[name], value);
const quoted = (text: string): string[] =>
  [...text.matchAll(/'([^']*)'/g)].map(([, one = '']) => one);

// spec/beyond.md R358
describe('the conformance features of the Open Workflow Specification', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let server: Awaited<ReturnType<typeof openServer>>;
  before(async () => {
    server = await openServer();
    server.answer = (asked, response) => {
      const pet = pets[asked.url.split('?')[0] ?? ''];
      if (pet) json(pet)(asked, response);
      else response.writeHead(404).end();
    };
  });
  after(() => server.close());
  let count = 0;

  /** Does the steps of a scenario, one after the other. */
  async function play({ name, steps }: Scenario): Promise<void> {
    let definition: Body;
    let input: Body = {};
    let run: Body;
    let tasks: Body[] = [];
    const order = (): string[] => tasks.map((task) => task.name);
    for (const { text, value } of steps) {
      const [first = '', second = ''] = text.match(/\w+(?= should)|(?<=after )\w+/g) ?? [];
      if (text === 'a workflow with definition:') definition = translated(value, server.url);
      else if (text === 'given the workflow input is:') input = value;
      else if (text === 'the workflow is executed') {
        count += 1;
        definition.document.name = `feature-${count}`;
        await tenant.post('/v1/workflows', { definition }).expect(201);
        const path = `/v1/workflows/feature-${count}`;
        run = (await tenant.post(`${path}/execute`, { data: input }).expect(200)).body;
        const at = `${path}/executions/${run.executionId}/timeline`;
        tasks = (await tenant.get(at).expect(200)).body.data;
      } else if (text.startsWith('the workflow should complete')) {
        expect(run.error).to.equal(null);
        expect(run.status).to.equal('completed');
        if (value !== undefined) expect(run.output).to.deep.equal(value);
      } else if (text.startsWith('the workflow should fault')) {
        expect(run.status).to.equal('failed');
        if (value !== undefined) expect(run.error.details.error).to.deep.include(value);
      } else if (text.startsWith('the workflow output should have properties')) {
        const given = quoted(text).filter((path) => !notGiven[name]?.includes(path));
        for (const path of given) expect(at(run.output, path), path).to.not.equal(undefined);
      } else if (/^the workflow output should have a .* property with value:$/.test(text)) {
        expect(at(run.output, quoted(text)[0] ?? '')).to.deep.equal(value);
      } else if (/^the workflow output should have a .* property containing 1 items$/.test(text)) {
        expect(at(run.output, quoted(text)[0] ?? '')).to.have.length(1);
      } else if (text.endsWith(' should run first')) expect(order()[0]).to.equal(first);
      else if (text.endsWith(' should run last')) expect(order().at(-1)).to.equal(first);
      else if (text.includes(' should run after ')) {
        expect(order().indexOf(first)).to.be.above(order().indexOf(second));
        expect(order()).to.include(second);
      } else throw new Error(`No such step: ${text}`);
    }
  }

  it('are all there, and what is left out is among them', () => {
    const names = scenarios.map(({ name }) => name);
    expect(new Set(names).size).to.equal(21);
    expect(names).to.include.members(Object.keys(leftOut));
  });

  for (const scenario of scenarios) {
    const left = leftOut[scenario.name];
    if (!left) it(`are carried out: ${scenario.name}`, () => play(scenario));
    else {
      it(`are refused when saved: ${scenario.name}. ${left.why}`, async () => {
        const definition = translated(scenario.steps[0]?.value, server.url);
        const { body } = await tenant.post('/v1/workflows/validate', { definition }).expect(200);
        const places = body.faults.map(({ pointer }: Body) => pointer);
        expect(
          places.some((place: string) => left.at.test(place)),
          places.join(),
        ).to.equal(true);
      });
    }
  }
});
