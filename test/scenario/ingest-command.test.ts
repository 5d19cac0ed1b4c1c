import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runDurabill, settingsOf } from '../support/servers/command-line.js';
import { demoAccount, demoContract, demoService } from '../../src/cli/demo/demo-catalog.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

const example = fileURLToPath(new URL('../../examples/usage.csv', import.meta.url));

describe('durabill ingest', function () {
  // Each command is a process of its own.
  this.timeout(300_000);
  const story = useStory();
  const { instance, tenant } = story;
  let folder: string;
  let demoServiceId: string;
  let serviceId: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-ingest-'));
    const { body: account } = await tenant.post(`${external}/accounts`, demoAccount).expect(201);
    const { body: demo } = await tenant.post(`${external}/services`, demoService).expect(201);
    demoServiceId = demo.id;
    await tenant.post(`${external}/contracts`, demoContract(account.id, demo.id)).expect(201);
    serviceId = await story.service('Calls');
  });
  after(() => rm(folder, { recursive: true }));

  const ingest = (path: string, ...options: string[]) =>
    runDurabill(
      { ...settingsOf(instance), PUBLIC_URL: instance.url },
      'ingest',
      path,
      '--tenant',
      tenant.id,
      '--url',
      instance.url,
      ...options,
    );
  const file = async (name: string, lines: readonly string[]): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, `${lines.join('\n')}\n`);
    return path;
  };

  const header = 'externalTransactionId,eventTimestamp,billingAccountRef,dimensions.api_calls';
  const at = '2026-10-01T00:00:00Z';

  it('ends with what became of the file, the reason of what was rejected, and exit code 1', async () => {
    const ended = await ingest(example, '--service', demoServiceId);
    // As the demo: of the 14 events one is a repeat, and one has no number.
    expect(ended.output).to.match(
      /^accepted 14 = rated 12 \+ duplicate 1 \+ rejected 1 \+ pending 0; refused 0 \(/,
    );
    expect(ended.errors).to.match(/^line 15: demo-0013: INVALID_DIMENSION, .*api_calls/m);
    expect(ended.code).to.equal(1);
  });

  it('names bad rows, passes them over, and takes semicolons; all is well: exit code 0', async () => {
    const bad = await file('bad.csv', [
      header,
      `a-1,${at},acme,1`,
      `a-2,${at},acme`,
      `a-3,${at},acme,"1"x`,
      `a-4,${at},acme,"4`,
      `a-5,${at},acme,5`,
    ]);
    const ended = await ingest(bad, '--service', serviceId);
    expect(ended.output).to.match(
      /^accepted 2 = rated 2 \+ duplicate 0 \+ rejected 0 \+ pending 0; refused 3 /,
    );
    expect(ended.errors).to.match(/^line 3: has 3 cells, the header has 4$/m);
    expect(ended.errors).to.match(/^line 4: .*\nline 5: /m);
    expect(ended.code).to.equal(1);

    const semicolons = await file('semicolons.csv', [
      `${header};note`.replaceAll(',', ';'),
      `b-1;${at};acme;2;fine`,
    ]);
    const well = await ingest(semicolons, '--service', serviceId);
    expect([well.code, well.output.split(';')[0]]).to.deep.equal([
      0,
      'accepted 1 = rated 1 + duplicate 0 + rejected 0 + pending 0',
    ]);
    expect(well.errors).to.include("columns that no event has, and that are ignored: 'note'");
  });

  it('takes the name of a service, and refuses one that does not exist before it sends', async () => {
    const path = await file('named.csv', [header, `n-1,${at},acme,1`]);
    const unknown = await ingest(path, '--service', 'Cals');
    expect([unknown.code, unknown.output]).to.deep.equal([1, '']);
    expect(unknown.errors).to.include("There is no service 'Cals' (--service); nothing was sent.");
    expect(unknown.errors).to.not.include('rejected');
    const named = await ingest(path, '--service', 'Calls');
    expect([named.code, named.output.split(';')[0]]).to.deep.equal([
      0,
      'accepted 1 = rated 1 + duplicate 0 + rejected 0 + pending 0',
    ]);
  });

  it('refuses a header that cannot make events, and sends nothing', async () => {
    const path = await file('header.csv', ['id,when,account,calls', `c-1,${at},acme,1`]);
    const ended = await ingest(path);
    expect([ended.code, ended.output]).to.deep.equal([1, '']);
    expect(ended.errors).to.include(
      'The header lacks externalTransactionId, eventTimestamp, billingAccountRef, serviceId, ' +
        'a dimension, such as dimensions.api_calls; it has id, when, account, calls.',
    );
    await tenant.get('/v1/usage-events/c-1').expect(404);
  });
});
