import { expect } from 'chai';
import { runDurabill, settingsOf } from '../support/servers/command-line.js';
import { decodeJwt } from 'jose';
import { oauthSteps } from '../support/http/oauth.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance } from '../support/servers/use-instance.js';

describe('OAuth: the command line', function () {
  // Each command is a process of its own.
  this.timeout(300_000);
  const instance = useInstance();

  const durabill = (...command: string[]) => runDurabill(settingsOf(instance), ...command);

  // spec/platform.md R52
  it('adds, lists and removes MCP clients', async () => {
    const add = ['mcp-client', 'add', '--name', 'Assistants', '--auth-type', 'per_user_oauth'];
    const added = await durabill(...add);
    expect([added.code, added.output]).to.deep.equal([0, 'added Assistants (per_user_oauth)\n']);
    expect(added.errors).to.include('/mcp');
    const again = await durabill(...add);
    expect([again.code, again.output]).to.deep.equal([1, '']);
    expect(again.errors).to.equal("durabill: There is an MCP client 'Assistants' already.\n");
    const listed = await durabill('mcp-client', 'list');
    expect(listed.output).to.match(/^Assistants\tper_user_oauth\t\d{4}-[\d:.TZ-]+\n$/);
    const removed = await durabill('mcp-client', 'remove', 'Assistants');
    expect([removed.code, removed.output]).to.deep.equal([0, 'removed Assistants\n']);
    const gone = await durabill('mcp-client', 'remove', 'Assistants');
    expect([gone.code, gone.errors]).to.deep.equal([
      1,
      "durabill: There is no MCP client 'Assistants'.\n",
    ]);
  });

  it('refuses a client without a name or of an unknown kind', async () => {
    for (const options of [
      ['--auth-type', 'per_user_oauth'],
      ['--name', ' ', '--auth-type', 'per_user_oauth'],
      ['--name', 'x'],
      ['--name', 'x', '--auth-type', 'magic'],
    ]) {
      const { code, output, errors } = await durabill('mcp-client', 'add', ...options);
      expect([code, output], options.join(' ')).to.deep.equal([1, '']);
      expect(errors).to.match(/name|auth-type/);
    }
  });

  it('rotates signing keys', async () => {
    const [oldKid = ''] = instance.platform.tokens.jwks.keys.map(({ kid }) => kid);
    const rotated = await durabill('signing-key', 'rotate');
    const kid = rotated.output.trim();
    const listed = (await durabill('signing-key', 'list')).output.trim().split('\n');
    const uses = listed.map((line) => line.split('\t')).map(([id, , use]) => [id, use]);
    expect(uses).to.deep.equal([
      [kid, 'signs'],
      [oldKid, 'verifies'],
    ]);
    expect((await durabill('signing-key', 'remove', kid)).code).to.equal(1);
    expect((await durabill('signing-key', 'remove', oldKid)).code).to.equal(0);
    expect((await durabill('signing-key', 'remove', oldKid)).code).to.equal(1);
  });

  // spec/platform.md R50
  it('refuses roles that nothing knows, and lives that are too long', async () => {
    for (const role of ['ADMINS', 'admin', 'READER,OWNER']) {
      const { code, output, errors } = await durabill('token', '--tenant', 'x', '--roles', role);
      expect([code, output], role).to.deep.equal([1, '']);
      expect(errors).to.include('is no role: use READER, OPERATOR, ADMIN');
    }
    const long = await durabill(
      'token',
      '--tenant',
      'long',
      '--create-tenant',
      '--expires',
      '999999d',
    );
    expect([long.code, long.output]).to.deep.equal([1, '']);
    expect(long.errors).to.equal('durabill: A token may live for at most 90d (TOKEN_LIFE_MAX).\n');
    const without = await durabill('token');
    expect([without.code, without.output]).to.deep.equal([1, '']);
    expect(without.errors).to.include("required option '--tenant <id>' not specified");
  });

  // spec/platform.md R52, R53
  it('makes no tenant by a typing error: each command that names one refuses it by its name', async () => {
    const period = ['--from', '2026-03-01', '--to', '2026-03-31'];
    const lines = [
      ['token', '--tenant', 'typo', '--roles', 'ADMIN'],
      ['token', 'revoke', '--tenant', 'typo', '00000000-0000-4000-8000-000000000000'],
      ['access-key', 'create', '--tenant', 'typo'],
      ['access-key', 'list', '--tenant', 'typo'],
      ['grant', 'list', '--tenant', 'typo'],
      ['webhook', 'listen', '--tenant', 'typo'],
      ['ingest', 'examples/usage.csv', '--tenant', 'typo'],
      ['billing-run', '--tenant', 'typo', ...period],
      ['billing-schedule', 'set', 'typo'],
      ['audit-schedule', 'pause', 'typo'],
      ['audit', 'verify', '--tenant', 'typo'],
      ['usage-range', 'list', '--tenant', 'typo'],
      ['tenant', 'plan', 'typo', 'premium'],
      ['tenant', 'seller', 'typo', '--name', 'X'],
      ['tenant', 'suspend', 'typo'],
      ['tenant', 'resume', 'typo'],
      ['tenant', 'delete', 'typo', '--confirm', 'typo'],
    ];
    for (const line of lines) {
      const { code, output, errors } = await durabill(...line);
      expect([code, output], line.join(' ')).to.deep.equal([1, '']);
      expect(errors, line.join(' ')).to.match(/^durabill: There is no tenant 'typo'/);
    }
    expect((await durabill('tenant', 'list')).output).not.to.include('typo');
    const made = await durabill('token', '--tenant', 'meant', '--create-tenant');
    expect([made.code, made.errors]).to.deep.equal([0, '']);
    expect((await durabill('tenant', 'list')).output).to.match(/^meant\t/m);
  });

  // spec/platform.md R52
  it('sets the plan of a tenant', async () => {
    expect((await durabill('tenant', 'create', 'planned')).code).to.equal(0);
    const plan = (...words: string[]) => durabill('tenant', 'plan', 'planned', ...words);
    expect((await plan('premium')).output).to.equal('planned has the plan premium\n');
    expect((await durabill('tenant', 'list')).output).to.match(/^planned\tplanned\tpremium$/m);
    expect((await plan('enterprise', '--limit', '5000')).code).to.equal(0);
    expect((await durabill('tenant', 'list')).output).to.match(/^planned\t.*enterprise.*5000/m);
    const without = await plan('enterprise');
    expect([without.code, without.output]).to.deep.equal([1, '']);
    expect(without.errors).to.include('--limit belongs to the plan enterprise');
  });

  // spec/platform.md R53
  it('refuses a token whose tenant does not exist', async () => {
    const token = await instance.platform.tokens.issue({
      tenantId: 'nowhere',
      orgId: null,
      roles: ['ADMIN'],
      subject: 'x',
      expiresInSeconds: 60,
    });
    expect(await refusalOf(token)).to.equal(
      "The token is for the tenant 'nowhere', which does not exist.",
    );
  });

  // spec/platform.md R51; spec/beyond.md R10
  it('makes keys that expire, shows their use, and revokes tokens and grants', async () => {
    const made = await durabill(
      'access-key',
      'create',
      '--tenant',
      'acme',
      '--create-tenant',
      '--roles',
      'READER',
      '--expires',
      '1h',
    );
    const key = made.output.trim();
    expect(key).to.match(/^dbk_/);
    await instance.platform.authenticate(key);
    const listed = await durabill('access-key', 'list', '--tenant', 'acme');
    expect(listed.output).to.match(/^[0-9a-f]{16}\t-\tREADER\t-\tvalid until \S+Z\tused \S+Z\n$/);

    const steps = await oauthSteps(instance);
    const clientId = await steps.client();
    const tokens = await steps.tokens(clientId, key);
    const grants = await durabill('grant', 'list', '--tenant', 'acme');
    const [id = '', client, subject] = grants.output.split('\t');
    expect([client, subject]).to.deep.equal(['"Billing assistant"', `key:${key.split('_')[1]}`]);
    expect((await durabill('grant', 'revoke', id)).code).to.equal(0);
    expect((await durabill('grant', 'revoke', id)).code).to.equal(1);
    await refused(tokens.access_token);

    const { output: token } = await durabill('token', '--tenant', 'acme', '--roles', 'ADMIN');
    const jti = decodeJwt(token).jti ?? '';
    expect((await durabill('token', 'revoke', jti)).output).to.include(`revoked ${jti}`);
    await refused(token.trim());
    const { output: second } = await durabill('token', '--tenant', 'acme', '--roles', 'ADMIN');
    expect((await durabill('token', 'revoke', second.trim())).code).to.equal(0);
    await refused(second.trim());
    expect((await durabill('token', 'revoke', 'nonsense')).code).to.equal(1);
  });

  it('suspends and resumes a tenant, and the audit knows what was done', async () => {
    const { output } = await durabill('token', '--tenant', 'acme', '--roles', 'ADMIN');
    const token = output.trim();
    const suspended = await durabill('tenant', 'suspend', 'acme');
    expect(suspended.output).to.include('acme is suspended');
    expect(await refusalOf(token)).to.include("The tenant 'acme' is suspended.");
    expect((await durabill('tenant', 'list')).output).to.match(/acme\t.*\tsuspended \S+Z/);
    expect((await durabill('tenant', 'resume', 'acme')).output).to.include('not suspended');
    await instance.platform.authenticate(token);
    expect((await durabill('tenant', 'suspend', 'nobody')).code).to.equal(1);

    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `select distinct entity || ' ' || action as event from audit where actor = 'command-line'`,
      ),
    );
    expect(rows.map(({ event }: { event: string }) => event)).to.include.members([
      'access_key create',
      'access_token issue',
      'access_token revoke',
      'oauth_grant revoke',
      'signing_key delete',
      'signing_key rotate',
      'tenant resume',
      'tenant suspend',
    ]);
  });

  const refusalOf = async (bearer: string) => {
    try {
      await instance.platform.authenticate(bearer);
      return 'none';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const refused = async (bearer: string) =>
    expect(await refusalOf(bearer)).to.equal('The token has been revoked.');
});
