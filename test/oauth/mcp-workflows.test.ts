import { expect } from 'chai';
import { oauthSteps, type OauthSteps } from '../support/http/oauth.js';
import { calling, message, sendMcp } from '../support/http/mcp.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const definitionOf = (text: string): object => ({
  document: { dsl: '1.0.0', namespace: 'test', name: 'greeting', version: '1.0.0' },
  do: [{ greet: { set: { text } } }],
});

/** spec/beyond.md R395 */
describe('an assistant and workflows', () => {
  const instance = useInstance({ withWorkers: true, isPublic: true });
  const tenant = useTenant(instance);
  let steps: OauthSteps;
  let clientId: string;
  before(async () => {
    steps = await oauthSteps(instance);
    clientId = await steps.client();
  });

  const tokenOf = async (scope: string): Promise<string> =>
    (await steps.tokens(clientId, tenant.token, { scope })).access_token;
  const query = '?tools=workflows';
  const call = async (token: string, name: string, given: object): Promise<Body> => {
    const answer = await sendMcp(instance.url, token, calling(name, given), { query });
    expect(answer.status, answer.text).to.equal(200);
    const { result } = JSON.parse(answer.text);
    return JSON.parse(result.content[0].text as string);
  };

  it('has the tools from the first draft to what tasks did', async () => {
    const answer = await sendMcp(instance.url, tenant.token, message('tools/list'), { query });
    const { tools } = JSON.parse(answer.text).result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).to.have.members([
      'listWorkflows',
      'getWorkflow',
      'listExecutions',
      'getExecution',
      'getWorkflowSchema',
      'validateWorkflow',
      'createWorkflow',
      'updateWorkflow',
      'deleteWorkflow',
      'simulateWorkflow',
      'executeWorkflow',
      'cancelExecution',
      'getExecutionTimeline',
      'listExecutionDeliveries',
    ]);
  });

  it('checks, tries, publishes, executes, and reads what was done', async () => {
    const token = await tokenOf('mcp:read mcp:write');
    const wrong = await call(token, 'validateWorkflow', {
      body: { definition: definitionOf('${ inptu.name }') },
    });
    expect(wrong.valid).to.equal(false);
    expect(wrong.faults[0].pointer).to.equal('/do/0/greet/set/text');
    const body = { definition: definitionOf('${ "Hello, " + input.name }') };
    expect(await call(token, 'createWorkflow', { body })).to.include({ version: 1 });
    const workflowId = 'greeting';
    const dry = await call(token, 'simulateWorkflow', {
      workflowId,
      body: { input: { name: 'A' } },
    });
    expect(dry.output).to.deep.equal({ text: 'Hello, A' });
    const done = await call(token, 'executeWorkflow', {
      workflowId,
      body: { data: { name: 'Acme' } },
      idempotencyKey: 'once',
    });
    expect(done).to.deep.include({ status: 'completed', output: { text: 'Hello, Acme' } });
    const { executionId } = done;
    const { items } = await call(token, 'getExecutionTimeline', { workflowId, executionId });
    expect(items.map(({ name, status }: Body) => [name, status])).to.deep.equal([
      ['greet', 'completed'],
    ]);
  });

  // spec/beyond.md R405
  it('publishes no definition that has a member twice', async () => {
    const given = { body: { definition: definitionOf('MEMBERS') } };
    const sent = JSON.stringify(calling('createWorkflow', given));
    const twice = sent.replace('"text":"MEMBERS"', '"n/1":1,"n":{"n/1":2},"n/1":3');
    const refusedOf = async (text: string): Promise<Body> => {
      const answer = await sendMcp(instance.url, tenant.token, text, { query });
      expect(answer.status, answer.text).to.equal(200);
      const { result } = [JSON.parse(answer.text)].flat().find(({ id }: Body) => id === 1);
      expect(result.isError).to.equal(true);
      return JSON.parse(result.content[0].text as string).error;
    };
    const pointer = '/do/0/greet/set/n~11';
    const message = "'n/1' is there twice: which of the two is meant?";
    for (const text of [
      twice,
      `[${JSON.stringify({ ...calling('listWorkflows', {}), id: 0 })},${twice}]`,
    ]) {
      const error = await refusedOf(text);
      expect(error.message).to.equal(`'definition${pointer}': ${message}`);
      expect(error.details.faults).to.deep.equal([{ pointer, message }]);
    }
    const body = JSON.stringify(given.body);
    const error = await refusedOf(sent.replace(`"body":${body}`, `"body":${body},"body":${body}`));
    expect(error.details.faults[0].pointer).to.equal('/params/arguments/body');
  });

  it('changes and executes nothing that it may only read', async () => {
    const token = await tokenOf('mcp:read');
    for (const [name, given] of [
      ['createWorkflow', { body: { definition: definitionOf('x') } }],
      ['executeWorkflow', { workflowId: 'greeting', body: { data: {} } }],
    ] as const) {
      const answer = await sendMcp(instance.url, token, calling(name, given), { query });
      expect(answer.status, name).to.equal(403);
    }
  });
});
