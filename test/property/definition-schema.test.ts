import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { definitionFaults } from '../../src/commands/workflows/check-definition.js';
import { definitionSchema } from '../../src/schemas/workflows/definition.js';
import { exampleNames, readExample } from '../support/billing/workflow-examples.js';
import { changedFrom, wholeDefinition } from '../support/workflows/changed-definitions.js';
import { tasksOf } from '../support/workflows/random-definitions.js';

const documentOf = (name: string) => ({ dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' });
const call = { call: 'http', with: { method: 'GET', endpoint: 'https://a.example' } };
const undo = { call: 'http', with: { method: 'DELETE', endpoint: 'https://a.example' } };
const random = tasksOf(2, { races: true, call, undo, waitMaxMs: 5_000, delay: { seconds: 1 } }).map(
  (tasks): object => ({ document: documentOf('random'), do: tasks }),
);

/** What validation says that a schema cannot (spec/beyond.md R399), by the words that it is said in. */
const cannotBeSaid: Readonly<Record<string, RegExp>> = {
  'what an expression is':
    /\(at character \d+ of the expression\)|An expression (is the whole text|has at most)|must give (true|a list)|which JSON has not/,
  'which operations there are, and what they take':
    /There is no operation|\/with\/parameters\/.*is (not a known property|required)|takes no body/,
  'which secrets there are': /There is no secret|A secret is read by its name/,
  'which tasks come later in a list': /is no later task of this list/,
  'names that are there already': /There are two tasks|is the name of the element, too/,
  'how much there may be in all': /has at most \d+ (tasks|bytes)|nest(s)? at most/,
  'how long a time is': /is longer than 31 days|no time that somebody could decide in/,
  'branches that go on elsewhere': /Branches run side by side/,
  'what an address, a header, a cron and a time zone are':
    /must be an address|has a name or password|without line breaks|name of a header|set by the connection|has five fields|has no valid|at most four times an hour|day that never comes|is no time zone/,
  'events that are too many': /There are thousands of it in a second/,
};

/** Whether a fault is of what an operation or a flow takes (spec/beyond.md R418), which a schema cannot say, either. */
function isOfWhatIsCalled(definition: unknown, pointer: string): boolean {
  const [place = '', ...rest] = pointer.split('/with');
  const names = place.split('/').slice(1);
  let task = definition as Readonly<Record<string, unknown>> | undefined;
  for (const name of names) task = task?.[name] as typeof task;
  const call = task?.['call'];
  if (rest.length === 0 || typeof call !== 'string') return false;
  if (call === 'durabill.operation') return rest[0]?.startsWith('/body') === true;
  return call.startsWith('durabill.') && !/^durabill\.(approval|price)$/.test(call);
}

describe('the published schema of definitions', function () {
  this.timeout(120_000);
  const accepts = new Ajv2020({ strict: false, allErrors: false }).compile({
    ...definitionSchema,
  });
  const secrets = new Set(['CRM_TOKEN']);
  const faultsOf = (definition: unknown) => definitionFaults(definition, { secrets });
  const examples: object[] = [];
  before(async () => {
    for (const name of await exampleNames()) examples.push(await readExample(name));
    expect(examples).to.have.length(6);
  });

  /** Both agree, but for what a schema cannot say. */
  const compare = (definition: object): void => {
    const faults = faultsOf(definition);
    const isAccepted = accepts(definition);
    const text = JSON.stringify(definition);
    if (!isAccepted) {
      const why = JSON.stringify(accepts.errors?.slice(0, 3));
      expect(faults, `only the schema refuses: ${why} ${text}`).to.not.be.empty;
      return;
    }
    const ofShape = faults.filter(
      ({ pointer, message }) =>
        !isOfWhatIsCalled(definition, pointer) &&
        !Object.values(cannotBeSaid).some((said) => said.test(`${pointer} ${message}`)),
    );
    expect(ofShape, `only validation refuses: ${text}`).to.deep.equal([]);
  };

  // spec/beyond.md R322, R399
  it('accepts the examples, and a definition with all that there is', () => {
    for (const definition of [...examples, wholeDefinition]) {
      expect(accepts(definition), JSON.stringify(accepts.errors)).to.equal(true);
      expect(faultsOf(definition)).to.deep.equal([]);
    }
  });

  it('accepts random definitions', () => {
    fc.assert(
      fc.property(random, (definition) => {
        expect(accepts(definition)).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });

  it('refuses what validation refuses for its form, and nothing that it takes', () => {
    const sound = fc.oneof(
      fc.constantFrom(...examples),
      fc.constant<object>(wholeDefinition),
      random,
    );
    const refused = { schema: 0, all: 0 };
    fc.assert(
      fc.property(changedFrom(sound), (definition) => {
        compare(definition);
        refused.all += faultsOf(definition).length > 0 ? 1 : 0;
        refused.schema += accepts(definition) ? 0 : 1;
      }),
      { numRuns: 5_000 },
    );
    // It is most of what can be wrong.
    expect(refused.schema).to.be.above(refused.all * 0.8);
  });
});
