import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const main = new URL('../../src/cli/main.ts', import.meta.url);

/** The commands as `--help` lists them, from the beginning of its lines. */
function commands(): string[] {
  const help = execFileSync(process.execPath, ['--import', 'tsx', main.pathname, '--help'], {
    encoding: 'utf8',
  });
  const [, list = ''] = /^Commands:\n([^]*?)\n\n/m.exec(help) ?? [];
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);
}

describe('README.md', () => {
  it('names each command, and no other', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, section = ''] = readme.split('\n## Commands\n');
    const [, list = ''] = /lists them: (.*?), each with/.exec(section) ?? [];
    const named = [...list.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name);
    expect(named.sort()).to.deep.equal(
      commands()
        .filter((name) => name !== 'help')
        .sort(),
    );
  });
});
