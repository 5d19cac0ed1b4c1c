import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { StartupError } from '../../src/platform/startup-error.js';
import { buildWithGo } from '../../src/embedded/temporal-build.js';
import { findTemporal, TEMPORAL_CLI_VERSION } from '../../src/embedded/temporal-program.js';
import type { Fetch } from '../../src/embedded/search-path.js';
import { makeFolder, removeFolder, repository } from './workbench.js';

const working = '#!/bin/sh\necho "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)"\n';
const older = '#!/bin/sh\necho "temporal version 0.9.0 (Server 1.21.0, UI 2.16.2)"\n';
const partial = '\x7fELF half of a download';

describe('where the Temporal server comes from', () => {
  let folder = '';
  let lines: string[] = [];
  beforeEach(async () => {
    folder = await makeFolder();
    lines = [];
  });
  afterEach(async () => removeFolder(folder));

  async function put(place: string, content: string): Promise<string> {
    const path = join(folder, place);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, content, { mode: 0o755 });
    return path;
  }

  const fetched =
    (content: string): Fetch =>
    async (into) => {
      await writeFile(join(into, 'program'), content, { mode: 0o755 });
      return join(into, 'program');
    };
  const refused =
    (reason: string): Fetch =>
    () =>
      Promise.reject(new Error(reason));

  const find = async (download = refused('no network'), build = refused('Go is not installed')) =>
    findTemporal({
      cacheDir: join(folder, 'cache'),
      searchPath: `relative:${join(folder, 'one')}:${join(folder, 'two')}`,
      onProgress: (line) => lines.push(line),
      download,
      build,
    });

  it('in .ci/run the version that a start would fetch', async () => {
    const pinned = await readFile(join(repository, '.ci/temporal.txt'), 'utf8');
    expect(pinned).to.include(`\ntemporal-bin==${TEMPORAL_CLI_VERSION.slice(1)} --hash=sha256:`);
  });

  it('first the one on PATH', async () => {
    const path = await put('two/temporal', working);
    await put('cache/bin/temporal', working);
    expect(await find()).to.equal(path);
  });

  it('not one that others may replace, whatever version it tells', async () => {
    const open = await put('one/temporal', working);
    await chmod(open, 0o777);
    const replaceable = await put('two/temporal', working);
    await chmod(dirname(replaceable), 0o777);
    const path = await put('cache/bin/temporal', working);
    expect(await find()).to.equal(path);
    expect(lines.join('\n')).to.contain(`not using ${open}: other users may write ${open}`);
    expect(lines.join('\n')).to.contain(`other users may write ${dirname(replaceable)}`);
  });

  it('not one of another user', async function () {
    if (process.getuid?.() !== 0) this.skip();
    await chown(await put('one/temporal', working), 65534, 65534);
    const path = await put('cache/bin/temporal', working);
    expect(await find()).to.equal(path);
    expect(lines.join()).to.contain('belongs to another user');
  });

  it('no download with another digest than the pinned one', async () => {
    const pinned = createHash('sha256').update(working).digest('hex');
    const of = (content: string) =>
      findTemporal({
        cacheDir: join(folder, 'cache'),
        searchPath: '',
        onProgress: (line) => lines.push(line),
        download: fetched(content),
        build: refused('Go is not installed'),
        pinned: () => Promise.resolve(pinned),
      });
    const wrong = `${working}# and something else\n`;
    const failure: unknown = await of(wrong).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(StartupError);
    expect(lines.join()).to.contain(`and must be ${pinned}`);
    expect(await readdir(join(folder, 'cache/bin'))).to.deep.equal([]);
    expect(await of(working)).to.equal(join(folder, 'cache/bin/temporal'));
  });

  it('then the cached one; one that is too old is passed over', async () => {
    const path = await put('cache/bin/temporal', working);
    await put('one/temporal', older);
    expect(await find()).to.equal(path);
    expect(lines.join()).to.contain('one/temporal: it is server 1.21, older than 1.29');
  });

  it('then the download, which replaces a broken file in the cache', async () => {
    const path = await put('cache/bin/temporal', partial);
    expect(await find(fetched(working))).to.equal(path);
    expect(lines.join()).to.match(/not using .*: it does not run/);
    expect(await readdir(join(folder, 'cache/bin'))).to.deep.equal(['temporal']);
    expect(await find()).to.equal(path);
  });

  it('then a build with Go, also when what was downloaded does not run', async () => {
    expect(await find(fetched(partial), fetched(working))).to.equal(
      join(folder, 'cache/bin/temporal'),
    );
    expect(lines.join()).to.contain('download failed: it does not run');
  });

  it('clears what a killed fetch left', async () => {
    await put('cache/bin/fetch-4194999/part', partial);
    await find(fetched(working));
    expect(await readdir(join(folder, 'cache/bin'))).to.deep.equal(['temporal']);
  });

  it('else one line with the ways out', async () => {
    const error: unknown = await find().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(StartupError);
    expect(String(error)).not.to.contain('\n');
    expect(String(error)).to.match(
      /download: no network; build with Go: Go is not installed.*temporal command.*TEMPORAL_ADDRESS.*install Go/,
    );
  });

  it('a build shows what it is doing and gives the reason of a failure', async () => {
    const go = `#!/bin/sh
      echo "go: downloading modernc.org/sqlite v1.39.0" >&2
      sleep 1.2
      if [ -e fail ]; then echo "no space left on device" >&2; exit 1; fi
      printf '%s' '${working}' > temporal; chmod +x temporal`;
    await put('go/go', go);
    const into = join(folder, 'into');
    await mkdir(into);
    const options = {
      version: 'v1.5.1',
      searchPath: join(folder, 'go'),
      onProgress: (line: string) => lines.push(line),
      abort: new AbortController().signal,
    };
    expect(await buildWithGo(into, options)).to.equal(join(into, 'temporal'));
    expect(lines.at(-1)).to.match(/once, .*0:01, downloading modernc.org\/sqlite/);

    await writeFile(join(into, 'fail'), '');
    const error: unknown = await buildWithGo(into, options).catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain('no space left on device');
  });
});
