import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { openApiDocument } from '../../src/api/pages/api-reference.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { billedUsage, printedByClients } from './story.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

describe('a TypeScript client that openapi-typescript generates', function () {
  // 170 operations are generated and type-checked.
  this.timeout(120_000);
  let instance: TestInstance;
  let folder: string;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    // In the repository, so that modules are found.
    folder = await mkdtemp(join(root, 'node_modules', '.client-'));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await instance.close();
  });

  it('sends an event, simulates and reads an invoice without a cast', async () => {
    const { tenant, serviceId, invoiceNo } = await billedUsage(instance);
    const document = JSON.stringify(openApiDocument());
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    await writeFile(join(folder, 'api.ts'), astToString(await openapiTypescript(document)));
    const program = join(folder, 'program.ts');
    await copyFile(fileURLToPath(new URL('programs/typescript.txt', import.meta.url)), program);
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
    const checked = await run(
      process.execPath,
      [compiler, ...options, '--ignoreConfig', '--types', 'node', '--skipLibCheck', program],
      { cwd: root },
    ).catch((error: { stdout?: string }) => error);
    expect(checked.stdout).to.equal('');
    const given = [instance.url, tenant.token, serviceId, 'acme', invoiceNo];
    const { stdout } = await run(process.execPath, ['--import', 'tsx', program, ...given], {
      cwd: root,
    });
    expect(stdout.trim().split('\n')).to.deep.equal(printedByClients(invoiceNo));
  });
});
