import { cp, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeFolder, removeFolder, repository, startProgram } from './workbench.js';

const saying = (text: string): string =>
  [
    `import { word } from '../word.js';`,
    `const text: string = '${text}';`,
    'process.stdout.write(text + word);',
    // As a start does once it has printed that all is ready.
    `process.emit('durabill.ready');\n`,
  ].join('\n');

describe('the program is compiled when it is started', () => {
  let folder = '';
  const main = (): string => join(folder, 'src/cli/main.ts');

  beforeEach(async () => {
    folder = await makeFolder();
    await cp(join(repository, 'bin'), join(folder, 'bin'), { recursive: true });
    await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await mkdir(join(folder, 'src/cli'), { recursive: true });
    await writeFile(join(folder, 'src/word.ts'), "export const word = '.';\n");
    await writeFile(join(folder, 'src/page.eta'), '<p>');
    await writeFile(main(), saying('one'));
    const page = join(folder, 'src/console');
    await mkdir(join(page, 'style'), { recursive: true });
    await writeFile(join(page, 'tsconfig.json'), '{}');
    await writeFile(join(page, 'main.tsx'), "import './style/page.css';\n");
    await mkdir(join(page, 'embed'));
    await writeFile(join(page, 'embed/main.tsx'), 'export {};\n');
    await writeFile(join(page, 'style/page.css'), 'p { margin: 0 }\n');
    await writeFile(join(page, 'style/icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  });
  afterEach(async () => removeFolder(folder));

  const run = async (...words: string[]) => {
    const program = startProgram(process.execPath, [join(folder, 'bin/durabill.js'), ...words]);
    return { code: await program.ended, output: program.output() };
  };
  const start = async () => run();

  it('on the first start, and again after a change', async () => {
    expect(await start()).to.deep.equal({ code: 0, output: 'one.' });
    await writeFile(main(), saying('two'));
    expect(await start()).to.deep.equal({ code: 0, output: 'two.' });
    expect(await readFile(join(folder, 'dist/page.eta'), 'utf8')).to.equal('<p>');
  });

  // spec/beyond.md R589
  it('and the console beside a start, which does not wait for it', async () => {
    await writeFile(join(folder, 'src/console/main.tsx'), 'export const = 1;\n');
    const wrong = await run('start');
    expect(wrong).to.deep.include({ code: 0 });
    expect(wrong.output).to.contain('one.').and.contain('src/console/main.tsx:1:13');
    await writeFile(join(folder, 'src/console/main.tsx'), "import './style/page.css';\n");
    const several = await Promise.all([run('start'), run('start')]);
    expect(several.map(({ output }) => output)).to.deep.equal(['one.', 'one.']);
    const page = await readFile(join(folder, 'dist/console/index.html'), 'utf8');
    expect(page).to.match(/"\/console\/assets\/console-\w+\.js"/);
    expect((await readdir(folder)).filter((name) => name.startsWith('dist'))).to.deep.equal([
      'dist',
    ]);
  });

  it('not without a change', async () => {
    await start();
    // Whatever is compiled is written anew: this would be lost.
    const program = join(folder, 'dist/program/main.js');
    const text = await readFile(program, 'utf8');
    await writeFile(program, text.replace('word = "."', 'word = "!"'));
    expect(await start()).to.deep.equal({ code: 0, output: 'one!' });
  });

  it('by several processes at once', async () => {
    const both = await Promise.all([start(), start(), start()]);
    expect(both.map(({ output }) => output)).to.deep.equal(['one.', 'one.', 'one.']);
    expect((await readdir(folder)).sort()).to.deep.equal(
      ['bin', 'dist', 'node_modules', 'package.json', 'src'].sort(),
    );
  });

  it('a source that is wrong: the place, exit code 1, and what was compiled before stays', async () => {
    await start();
    await writeFile(main(), 'const = 1;\n');
    const { code, output } = await start();
    expect(code).to.equal(1);
    expect(output).to.contain('src/cli/main.ts:1:6').and.contain('cannot compile src to dist');
    await writeFile(main(), saying('one'));
    expect(await start()).to.deep.equal({ code: 0, output: 'one.' });
  });
});
