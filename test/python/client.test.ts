import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openApiDocument } from '../../src/api/pages/api-reference.js';
import { readConfig } from '../../src/platform/config/config.js';
import { billedUsage, printedByClients } from '../clients/story.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { installPythonTools, runToEnd } from '../support/servers/python.js';

describe('a Python client that openapi-python-client generates', function () {
  // It may have to be installed, and 170 operations are generated and type-checked.
  this.timeout(600_000);
  let instance: TestInstance;
  let folder: string;
  let bin: string;
  const { signal } = new AbortController();
  before(async () => {
    bin = await installPythonTools(
      readConfig(process.env).cacheDir,
      { what: 'test:clients', packages: ['openapi-python-client==0.29.1', 'mypy==1.18.2'] },
      { signal, tell: (text) => process.stderr.write(`clients: ${text}\n`) },
    );
    instance = await openTestInstance({ withWorkers: true });
    folder = await mkdtemp(join(tmpdir(), 'durabill-client-'));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await instance.close();
  });

  it('sends an event, simulates and reads an invoice without a cast', async () => {
    const { tenant, serviceId, invoiceNo } = await billedUsage(instance);
    const run = (program: string, args: readonly string[]) =>
      runToEnd(join(bin, program), args, { signal, folder });
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(openApiDocument()));
    await writeFile(join(folder, 'config.yml'), 'post_hooks: []\n');
    await copyFile(
      fileURLToPath(new URL('program.py', import.meta.url)),
      join(folder, 'program.py'),
    );
    const generated = await run('openapi-python-client', [
      'generate',
      '--path',
      'openapi.json',
      '--config',
      'config.yml',
      '--meta',
      'none',
      '--output-path',
      'durabill_client',
    ]);
    expect(generated.code, generated.output).to.equal(0);
    // What it cannot read alone is no JSON: a paper and a picture.
    expect(generated.output.match(/^(?:WARNING|ERROR|Unable).*$/gm)).to.deep.equal([
      'WARNING parsing GET /api/v1/external/invoices/{invoiceId}/pdf within invoices.',
      'WARNING parsing GET /v1/workflows/{workflowId}/diagram within workflows.',
    ]);
    // The generated code itself is not ours to judge.
    await writeFile(join(folder, 'mypy.ini'), '[mypy-durabill_client.*]\nignore_errors = True\n');
    const checked = await run('mypy', ['--strict', 'program.py']);
    expect(checked.code, checked.output).to.equal(0);
    const given = [instance.url, tenant.token, serviceId, 'acme', invoiceNo];
    const { code, output } = await run('python', ['program.py', ...given]);
    expect(code, output).to.equal(0);
    expect(output.trim().split('\n')).to.deep.equal(printedByClients(invoiceNo));
  });
});
