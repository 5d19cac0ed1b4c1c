import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openTestInstance, type TestInstance } from '../support/instance.js';

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

describe('OAuth: the command line', function () {
  // Each command is a process of its own.
  this.timeout(120_000);
  let instance: TestInstance;
  before(async () => {
    instance = await openTestInstance();
  });
  after(() => instance.close());

  const durabill = (...command: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const env = {
        ...process.env,
        DATABASE_URL: instance.databaseUrl,
        SECRET_KEY: instance.platform.config.secret.toString('base64'),
      };
      execFile(
        process.execPath,
        ['--import', 'tsx', program, ...command],
        { env },
        (error, output, errors) => {
          const code = error ? Number(error.code) : 0;
          resolve({ code, output, errors });
        },
      );
    });

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
      ...[1, "durabill: There is no MCP client 'Assistants'.\n"],
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
});
