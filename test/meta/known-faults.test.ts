import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { repository } from '../start/workbench.js';

/** Stands for OSV: knows one fault of one component. */
describe('known faults of what we depend on, from the second source', () => {
  let folder: string;
  let server: Server;
  let severity = 'HIGH';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-sbom-'));
    await mkdir(join(folder, 'deploy'));
    await cp(join(repository, 'deploy/known-faults.js'), join(folder, 'deploy/known-faults.js'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const components = ['pkg:npm/good@1.0.0', 'pkg:npm/bad@2.0.0'].map((purl) => ({ purl }));
    await writeFile(join(folder, 'sbom.json'), JSON.stringify({ components }));
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const answer = request.url?.startsWith('/v1/vulns/')
          ? { summary: 'It is bad', database_specific: { severity } }
          : {
              results: (JSON.parse(body) as { queries: object[] }).queries.map((query) =>
                JSON.stringify(query).includes('bad') ? { vulns: [{ id: 'GHSA-1' }] } : {},
              ),
            };
        response.end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const look = (url: string): Promise<{ code: number; text: string }> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        [join(folder, 'deploy/known-faults.js'), url],
        (error, output, errors) =>
          resolve({ code: error ? Number(error.code) : 0, text: output + errors }),
      );
    });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  it('end with 1 for one of severity high, and are named', async () => {
    const { code, text } = await look(url());
    expect(code).to.equal(1);
    expect(text).to.include('HIGH\tGHSA-1\tpkg:npm/bad@2.0.0\tIt is bad');
  });

  it('end with 0 for one of less', async () => {
    severity = 'LOW';
    const { code, text } = await look(url());
    expect([code, text.includes('2 components checked, 1 known faults')]).to.deep.equal([0, true]);
  });

  it('end with 3 where nobody answers: nothing was checked', async () => {
    const { code, text } = await look('http://127.0.0.1:9');
    expect([code, text.includes('does not answer')]).to.deep.equal([3, true]);
  });
});
