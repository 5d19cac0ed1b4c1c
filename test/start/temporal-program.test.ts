import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { StartupError } from '../../src/platform/embedded/startup-error.js';
import { buildWithGo } from '../../src/platform/embedded/temporal-build.js';
import { findTemporal } from '../../src/platform/embedded/temporal-program.js';
import type { Fetch } from '../../src/platform/embedded/program-fetch.js';
import { makeFolder, removeFolder } from './workbench.js';

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

  it('first the one on PATH', async () => {
    const path = await put('two/temporal', working);
    await put('cache/bin/temporal', working);
    expect(await find()).to.equal(path);
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
      if [ -e "$GOBIN/fail" ]; then echo "no space left on device" >&2; exit 1; fi
      printf '%s' '${working}' > "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"`;
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
