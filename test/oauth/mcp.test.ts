import { expect } from 'chai';
import { createAccessKey } from '../../src/access/access-keys.js';
import { examples } from '../../src/schemas/openapi/examples.js';
import { defaultTools, tools } from '../../src/schemas/mcp/tool-sets.js';
import { external } from '../support/servers/instance.js';
import { oauthSteps, type OauthSteps } from '../support/http/oauth.js';
import { calling, message, sendMcp, type McpOptions } from '../support/http/mcp.js';
import { asOwner } from '../support/servers/rows.js';
import { bodyIn, buildWorld, type World } from '../support/http/world.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

interface ToolResult {
  readonly isError?: boolean;
  readonly value: Record<string, never>;
}

describe('the MCP server', () => {
  const instance = useInstance({ withWorkers: true, isPublic: true });
  const tenant = useTenant(instance);
  const stranger = useTenant(instance);
  let steps: OauthSteps;
  let world: World;
  let clientId: string;
  before(async () => {
    steps = await oauthSteps(instance);
    world = await buildWorld(tenant);
    clientId = await steps.client();
  });

  const send = (token: string | undefined, message: unknown, options: McpOptions = {}) =>
    sendMcp(instance.url, token, message, options);
  const call = async (token: string, name: string, given: object = {}): Promise<ToolResult> => {
    const answer = await send(token, calling(name, given));
    expect(answer.status, answer.text).to.equal(200);
    const { result } = JSON.parse(answer.text);
    return { isError: result.isError, value: JSON.parse(result.content[0].text as string) };
  };
  const tokenOf = async (scope: string, { token } = tenant): Promise<string> =>
    (await steps.tokens(clientId, token, { scope })).access_token;

  describe('lets in whoever', () => {
    const metadata = (): string =>
      `resource_metadata="${instance.url}/.well-known/oauth-protected-resource/mcp"`;

    it('has a token, and tells others where to get one', async () => {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const answer = await send(undefined, undefined, { method });
        expect(answer.status).to.equal(401);
        expect(answer.headers['www-authenticate']).to.equal(`Bearer ${metadata()}`);
      }
      const wrong = await send('nonsense', message('tools/list'));
      expect(wrong.status).to.equal(401);
      expect(wrong.headers['www-authenticate']).to.equal(
        `Bearer error="invalid_token", ${metadata()}`,
      );
    });

    it('has an access key or a token of their own', async () => {
      const key = await createAccessKey(instance.platform.database.platform, {
        tenantId: tenant.id,
        orgId: null,
        roles: ['ADMIN'],
        name: null,
      });
      for (const credential of [key, tenant.token]) {
        expect((await call(credential, 'listAccounts')).isError).to.equal(undefined);
      }
    });

    it('is no page of another origin', async () => {
      const headers = { Origin: 'https://evil.example' };
      const answer = await send(tenant.token, message('tools/list'), { headers });
      expect(answer.status).to.equal(403);
      const own = { headers: { Origin: instance.url } };
      expect((await send(tenant.token, message('tools/list'), own)).status).to.equal(200);
    });

    it('has the role ADMIN for what needs it', async () => {
      const powerless = await instance.token(tenant.id, []);
      const { isError, value } = await call(powerless, 'listAccounts');
      expect(isError).to.equal(true);
      expect(value).to.have.nested.property('error.code', 'FORBIDDEN');
    });
  });

  it('has no sessions: nothing to listen to, nothing to end', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await send(tenant.token, undefined, { method });
      expect([answer.status, answer.headers.allow]).to.deep.equal([405, 'POST']);
    }
    const initialize = message('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    const answer = await send(tenant.token, initialize);
    expect(answer.headers).to.not.have.property('mcp-session-id');
    const { result } = JSON.parse(answer.text);
    expect(result).to.deep.include({ protocolVersion: '2025-06-18', capabilities: { tools: {} } });
    expect(result.serverInfo).to.include({ name: 'durabill' });
    expect(result.instructions).to.match(/\S/);
    const notice = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await send(tenant.token, notice)).status).to.equal(202);
  });

  it('refuses what is no message', async () => {
    for (const body of ['{', '7', '{"jsonrpc":"1.0"}', '"\\u0000"']) {
      expect((await send(tenant.token, body)).status, body).to.equal(400);
    }
    const large = JSON.stringify(calling('listAccounts', { q: 'x'.repeat(1024 * 1024) }));
    expect((await send(tenant.token, large)).status).to.equal(413);
    const answer = await send(tenant.token, calling('dropTables', {}));
    expect(JSON.parse(answer.text)).to.have.nested.property('error.code', -32602);
  });

  it('lists tools with schemas and hints that follow from the declarations', async () => {
    const answer = await send(tenant.token, message('tools/list'), { query: '?tools=all' });
    const listed = JSON.parse(answer.text).result.tools as {
      name: string;
      description: string;
      inputSchema: { type: string; properties: Record<string, { enum?: string[] }> };
      annotations: Record<string, unknown>;
    }[];
    expect(listed.map(({ name }) => name)).to.deep.equal(
      tools.map(({ operation }) => operation.id),
    );
    const named = new Map(listed.map((tool) => [tool.name, tool]));
    const hints = (name: string) => {
      const { readOnlyHint, destructiveHint } = named.get(name)?.annotations ?? {};
      return [readOnlyHint, destructiveHint];
    };
    // What a tool that reads destroys means nothing, and no hint says that a tool writes.
    expect(hints('listAccounts')).to.deep.equal([true, undefined]);
    expect(hints('getUsageEvent')).to.deep.equal([true, undefined]);
    expect(hints('simulateUsage')).to.deep.equal([true, undefined]);
    expect(hints('runCreateAccount')).to.deep.equal([undefined, false]);
    expect(hints('createCreditNote')).to.deep.equal([undefined, false]);
    expect(hints('runEditAccount')).to.deep.equal([undefined, true]);
    expect(hints('runDeletePayment')).to.deep.equal([undefined, true]);
    for (const { name, description, inputSchema } of listed) {
      expect(description, name).to.match(/\S/);
      expect(inputSchema.type, name).to.equal('object');
      expect(JSON.stringify(inputSchema), name).to.not.include('$ref');
    }
    const { inputSchema } = named.get('listAccounts') ?? {};
    expect(inputSchema?.properties).to.include.keys('page', 'size');
    expect(JSON.stringify(named.get('runSavePayment')?.inputSchema)).to.include('Bank Transfer');
  });

  describe('offers sets of tools', () => {
    const list = async (query: string): Promise<string[]> => {
      const answer = await send(tenant.token, message('tools/list'), { query });
      const { result } = JSON.parse(answer.text) as { result: { tools: { name: string }[] } };
      return result.tools.map(({ name }) => name);
    };
    const start = { body: { id: '01939c6e-7a00-7000-8000-00000000dead' } };

    it('reading ones where nothing is said, though all can be called', async () => {
      const names = await list('');
      expect(names).to.deep.equal(defaultTools.map(({ operation }) => operation.id));
      expect(names).to.include.members(['listAccounts', 'explainInvoice', 'simulateUsage']);
      expect(names.filter((name) => name.startsWith('run'))).to.deep.equal([]);
      const { value } = await call(tenant.token, 'runDeleteAccount', start);
      expect(value).to.have.nested.property('error.code', 'NOT_FOUND');
    });

    it('and no other than those that are asked for', async () => {
      const read = await list('?tools=read');
      expect(read).to.deep.equal(await list(''));
      const run = await list('?tools=run');
      expect(run).to.include('runCreateAccount');
      expect(run.filter((name) => !name.startsWith('run'))).to.deep.equal([]);
      expect(await list('?tools=read,run')).to.deep.equal([...read, ...run]);
      const change = await list('?tools=change');
      expect(change).to.have.members([
        'createRateCardVersion',
        'createExceptionCardVersion',
        'createCreditNote',
        'createWalletGrant',
        'revokeWalletGrant',
        'createHold',
        'commitHold',
        'releaseHold',
        'createAlert',
        'cancelUsageEvent',
        'amendUsageEvent',
        'promoteRepricing',
        'decideApproval',
      ]);
      const more = await list('?tools=balances,corrections,whatif,approvals');
      expect(more).to.include.members(['listAlerts', 'listRepricings', 'listApprovals']);
      const own = (await list('?tools=workflows')).filter((name) => !read.includes(name));
      const all = [...read, ...more, ...own, ...run, ...change];
      expect(await list('?tools=all')).to.deep.equal(all);
      const query = '?tools=read';
      const answer = await send(tenant.token, calling('runDeleteAccount', start), { query });
      expect(JSON.parse(answer.text)).to.have.nested.property('error.code', -32602);
    });

    it('and refuses others', async () => {
      for (const query of ['?tools=', '?tools=reed', '?tools=read,toString', '?tool=read']) {
        const answer = await send(tenant.token, message('tools/list'), { query });
        expect(answer.status, query).to.equal(400);
      }
    });
  });

  describe('with mcp:read', () => {
    let token: string;
    before(async () => {
      token = await tokenOf('mcp:read');
    });

    it('answers with what the API knows, without envelopes and empty fields', async () => {
      const { accountId } = world.params;
      const { body } = await tenant.get(`${external}/accounts/${accountId}`).expect(200);
      const { value } = await call(token, 'getAccount', { accountId });
      expect(value).to.include({ id: accountId, name: body.data.Name });
      expect(JSON.stringify(value)).to.not.match(/__|null|requestId/);
      const page = await call(token, 'listAccounts', { page: 0, size: 1 });
      const listed = await tenant.get(`${external}/accounts?page=0&size=1`).expect(200);
      const { content, totalElements } = listed.body.data;
      expect(page.value).to.deep.include({ total: totalElements });
      expect(page.value).to.have.nested.property('items[0].id', content[0].Id);
    });

    it('says how a list goes on', async () => {
      const idOf = ({ value }: ToolResult) =>
        (value['items'] as unknown as readonly { readonly id: string }[])[0]?.id;
      const first = await call(token, 'listCurrencies', { size: 2 });
      expect(first.value).to.have.deep.property('next', { page: 1, size: 2 });
      const second = await call(token, 'listCurrencies', first.value['next'] ?? {});
      expect(second.value).to.not.have.nested.property('items[0].id', idOf(first));
      const last = await call(token, 'listUsageEvents', { limit: 1000 });
      expect(last.value).to.not.have.property('next');
    });

    it('explains a charge, and prices what did not happen', async () => {
      const { id } = world.params;
      const event = await call(token, 'getUsageEvent', { id });
      expect(event.value['status']).to.equal('rated');
      expect(JSON.stringify(event.value)).to.include('explanation');
      const body = bodyIn(world, examples.usageEvent);
      const before = await tenant.get('/v1/usage-events/summary').expect(200);
      const simulated = await call(token, 'simulateUsage', { body });
      expect(simulated.isError, JSON.stringify(simulated.value)).to.equal(undefined);
      const several = await call(token, 'simulateUsage', { body: [body, body] });
      expect(several.value).to.have.length(2);
      expect(simulated.value['status']).to.equal('rated');
      const after = await tenant.get('/v1/usage-events/summary').expect(200);
      expect(after.body).to.deep.equal(before.body);
    });

    it('cannot write: 403 with the scope to ask for, and nothing changes', async () => {
      const start = { ID_Account: world.params['accountId'] };
      const path = `${external}/accounts/${start.ID_Account}`;
      const before = await tenant.get(path).expect(200);
      const answer = await send(token, calling('runApproveAccount', { body: start }));
      expect(answer.status).to.equal(403);
      expect(answer.headers['www-authenticate']).to.match(
        /^Bearer error="insufficient_scope", scope="mcp:read mcp:write", resource_metadata="[^"]+"$/,
      );
      const batch = [message('ping'), { ...calling('runApproveAccount', { body: start }), id: 2 }];
      expect((await send(token, batch)).status).to.equal(403);
      const after = await tenant.get(path).expect(200);
      expect(after.body.data).to.deep.equal(before.body.data);
    });

    const faults: readonly (readonly [what: string, tool: string, given: object, field: string])[] =
      [
        ['a parameter that is missing', 'getAccount', {}, 'accountId'],
        ['a parameter that is not known', 'listAccounts', { colour: 'red' }, 'colour'],
        ['a number out of range', 'listAccounts', { size: 0 }, 'size'],
        ['an object for a text', 'listAccounts', { q: {} }, 'q'],
        ['a body that is missing', 'simulateUsage', {}, ''],
        ['a date that is none', 'listUsageEvents', { from: 'soon' }, 'from'],
        ['a row that no tool has', 'getInvoice', { invoiceId: 'x', view: 'row' }, 'view'],
        ['an answer that is too short', 'listAccounts', { maxTokens: 1 }, 'maxTokens'],
      ];
    for (const [what, tool, given, field] of faults) {
      it(`tells of ${what}`, async () => {
        const { isError, value } = await call(token, tool, given);
        expect(isError).to.equal(true);
        const { error } = value as unknown as { error: { code: string; message: string } };
        expect(error.code).to.equal('VALIDATION_ERROR');
        expect(error.message).to.include(field);
      });
    }
  });

  describe('with mcp:write', () => {
    let token: string;
    before(async () => {
      token = await tokenOf('mcp:read mcp:write');
    });

    it('runs a flow, once for one idempotency key', async () => {
      const body = { id: world.params['accountId'], description: 'By the assistant' };
      const given = { body, idempotencyKey: 'k-1' };
      const first = await call(token, 'runEditAccount', given);
      expect(first.isError, JSON.stringify(first.value)).to.equal(undefined);
      const again = await call(token, 'runEditAccount', given);
      expect(again.value).to.deep.equal(first.value);
      expect(first.value['output']).to.include({ id: body.id });
    });

    it('tells why a flow was refused', async () => {
      const { isError, value } = await call(token, 'runCreateAccount', { body: { City: 'Oz' } });
      expect(isError).to.equal(true);
      expect(value).to.have.nested.property('error.code', 'VALIDATION_ERROR');
      expect(JSON.stringify(value)).to.include('Company_Name');
    });

    it('keeps every digit of an amount', async () => {
      // More digits than a float has, and no more places than a dollar.
      const amount = '12345678901234567890.12';
      const text = JSON.stringify(
        calling('runSavePayment', {
          body: {
            account_id: world.params['accountId'],
            currency_id: 'USD',
            amount: '#',
            payment_date: '2026-03-31',
            payment_method: 'Cash',
            payment_reference: 'mcp-1',
          },
        }),
      ).replace('"#"', amount);
      const answer = await send(token, text);
      expect(answer.status, answer.text).to.equal(200);
      expect(JSON.parse(answer.text).result.content[0].text).to.include(`"amount":${amount}`);
    });
  });

  it('shows a tenant nothing of another', async () => {
    const token = await tokenOf('mcp:read mcp:write', stranger);
    for (const [tool, param] of [
      ['getAccount', 'accountId'],
      ['getContract', 'contractId'],
      ['getService', 'serviceId'],
      ['getUsageEvent', 'id'],
      ['getRatedTransaction', 'transactionId'],
      ['getInvoice', 'invoiceId'],
      ['getPayment', 'paymentId'],
      ['getWallet', 'walletId'],
    ] as const) {
      const given = { [param]: world.params[param] };
      expect((await call(tenant.token, tool, given)).isError, tool).to.equal(undefined);
      const { isError, value } = await call(token, tool, given);
      expect(isError, tool).to.equal(true);
      expect(value, tool).to.have.nested.property('error.code', 'NOT_FOUND');
    }
    const listed = await call(token, 'listAccounts');
    expect(JSON.stringify(listed.value)).to.not.include(tenant.id);
    const body = { id: world.params['accountId'], description: 'taken' };
    expect((await call(token, 'runEditAccount', { body })).isError).to.equal(true);
    const account = await tenant.get(`${external}/accounts/${body.id}`).expect(200);
    expect(JSON.stringify(account.body)).to.not.include('taken');
  });

  it('leaves a trace of every call, also of those that were refused', async () => {
    const reader = await tokenOf('mcp:read', stranger);
    const account = { accountId: world.params['accountId'] };
    await call(reader, 'listAccounts', { size: 3 });
    await call(reader, 'getAccount', account);
    await send(reader, calling('runDeleteAccount', { body: { id: account.accountId } }));
    const calls = await asOwner(instance.databaseUrl, async (client) => {
      const sql = `select tool, arguments, client_id, status, error_code from tool_call
        where tenant_id = $1 order by id desc limit 3`;
      return (await client.query<Record<string, unknown>>(sql, [stranger.id])).rows.reverse();
    });
    const ofClient = { client_id: clientId };
    const failed = { ...ofClient, status: 'Failed' };
    expect(calls).to.deep.equal([
      {
        tool: 'listAccounts',
        arguments: { size: 3 },
        ...ofClient,
        status: 'Completed',
        error_code: null,
      },
      { tool: 'getAccount', arguments: account, ...failed, error_code: 'NOT_FOUND' },
      {
        tool: 'runDeleteAccount',
        arguments: { body: { id: account.accountId } },
        ...ofClient,
        status: 'Failed',
        error_code: 'FORBIDDEN',
      },
    ]);
    const { body } = await stranger.get('/v1/audit?entity=toolCall&limit=2').expect(200);
    const [ended, begun] = body.data;
    expect(ended).to.include({ action: 'update', actor: 'tester' });
    expect(ended.after).to.include({ tool: 'runDeleteAccount', status: 'Failed' });
    expect(begun).to.include({ action: 'create', entityId: ended.entityId });
    expect(begun.requestId).to.match(/\S/);
  });
});
