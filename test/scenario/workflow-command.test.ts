import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccount } from '../support/billing/usage.js';
import { runDurabill, settingsOf, startDurabill } from '../support/servers/command-line.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const definition = `document: { dsl: 1.0.0, namespace: test, name: sizes, version: 1.0.0 }
do:
  - size:
      set: { size: large }
`;

describe('durabill workflow', function () {
  // Each command is a process of its own.
  this.timeout(300_000);
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-workflow-'));
  });
  after(() => rm(folder, { recursive: true }));

  const workflow = (...words: string[]) =>
    runDurabill({ ...settingsOf(instance), PUBLIC_URL: instance.url }, 'workflow', ...words);

  // spec/beyond.md R356
  it('checks files, publishes them, and publishes nothing that is wrong', async () => {
    const file = join(folder, 'sizes.yaml');
    await writeFile(file, definition);
    const ofTenant = ['--tenant', tenant.id];
    expect(await workflow('validate', file)).to.include({ code: 0, output: `${file}: valid\n` });
    const made = await workflow('create', file, ...ofTenant);
    expect(made.errors).to.equal('');
    expect(made.output).to.match(/^sizes, version 1 published \([0-9a-f]{12}\)\n$/);
    expect((await workflow('create', file, ...ofTenant)).output).to.include('version 1 unchanged');
    await writeFile(file, definition.replace('{ size: large }', '${ inptu }'));
    const wrong = await workflow('validate', file, ...ofTenant);
    expect(wrong.code).to.equal(1);
    expect(wrong.output).to.include(`${file}:4:7: /do/0/size/set: `);
    expect((await workflow('create', file, ...ofTenant)).code).to.equal(1);
    const shown = (await tenant.get('/v1/workflows/sizes').expect(200)).body;
    expect(shown.version).to.equal(1);
  });

  // spec/beyond.md R356
  it('checks a file again whenever it changes, until it is stopped', async () => {
    const file = join(folder, 'watched.yaml');
    await writeFile(file, definition);
    const { child, output } = startDurabill({}, 'workflow', 'validate', file, '--watch');
    const said = async (text: string): Promise<void> => {
      while (!output().includes(text)) await pause(50);
    };
    try {
      await said('Waiting for changes');
      expect(output()).to.include(`${file}: valid`);
      await writeFile(file, definition.replace('{ size: large }', '${ inptu }'));
      await said(`${file}:4:7: /do/0/size/set: `);
      // As editors do it: another file takes its place.
      await writeFile(`${file}.new`, definition);
      const before = output().length;
      await rename(`${file}.new`, file);
      while (!output().slice(before).includes(`${file}: valid`)) await pause(50);
      expect(child.exitCode).to.equal(null);
    } finally {
      child.kill();
    }
  });

  // spec/beyond.md R356
  it('shows what each task did, and why one failed', async () => {
    const file = join(folder, 'tasks.yaml');
    const tasks = definition.replace('name: sizes', 'name: tasks');
    const wait = '  - rest: { wait: PT0.1S }\n';
    const stop = '  - stop: { raise: { error: { type: urn:x, status: 409, detail: Taken. } } }\n';
    await writeFile(file, tasks + wait + stop);
    const ofTenant = ['--tenant', tenant.id];
    expect((await workflow('create', file, ...ofTenant)).code).to.equal(0);
    const { code, output } = await workflow('run', 'tasks', ...ofTenant);
    expect(code).to.equal(1);
    expect(output).to.match(/completed {2}size \(set\) {2}\/do\/0\/size {2}\d+\.\d s\n/);
    expect(output).to.match(/completed {2}rest \(wait\) {2}\/do\/1\/rest {2}\d+\.\d s\n/);
    expect(output).to.match(/failed {5}stop \(raise\) {2}\/do\/2\/stop .*\n {4}409 Taken\.\n/);
    expect(output).to.match(/failed: \/do\/2\/stop: Taken\.\n$/);
  });

  // spec/beyond.md R356
  it('shows what was taken back', async () => {
    const file = join(folder, 'undone.yaml');
    const operation = (words: string) => `{ call: durabill.operation, ${words} }`;
    const undo = operation(
      'with: { operationId: deleteAccount, parameters: { accountId: "${ output.id }" } }',
    );
    const make = operation(
      `with: { operationId: createAccount, body: { name: A } }, durabill.undo: ${undo}`,
    );
    const stop = '{ raise: { error: { type: urn:x, status: 409, detail: Taken. } } }';
    const head = definition.slice(0, definition.indexOf('do:')).replace('sizes', 'undone');
    await writeFile(file, `${head}do: [{ make: ${make} }, { stop: ${stop} }]\n`);
    const ofTenant = ['--tenant', tenant.id];
    const made = await workflow('create', file, ...ofTenant);
    expect(made, made.errors).to.include({ code: 0 });
    const { output } = await workflow('run', 'undone', ...ofTenant);
    expect(output).to.match(/failed: \/do\/1\/stop: Taken\.\nundone: \/do\/0\/make\n$/);
    const logs = await workflow('logs', 'undone', ...ofTenant);
    expect(logs.output).to.match(
      /completed {2}make \(call\) {2}\/do\/0\/make .* s {2}\(undone\)\n/,
    );
  });

  // spec/beyond.md R356
  it('executes a workflow, and shows its executions', async () => {
    const id = await createAccount(tenant, 'acme');
    const data = JSON.stringify({ id, net_term: 'Net 45' });
    const ofTenant = ['--tenant', tenant.id];
    const done = await workflow('run', 'account-edit', '--data', data, ...ofTenant);
    expect(done, done.errors).to.include({ code: 0 });
    expect(done.output).to.match(/^execution [0-9a-f-]{36}\ncompleted\n\{/);
    const logs = await workflow('logs', 'account-edit', ...ofTenant);
    expect(logs.output).to.equal(done.output);
    const bad = JSON.stringify({ id: '01939c6e-7a00-7000-8000-00000000dead' });
    const failed = await workflow('run', 'account-edit', '--data', bad, ...ofTenant);
    expect(failed.code).to.equal(1);
    expect(failed.output + failed.errors).to.include('There is no account');
  });
});
