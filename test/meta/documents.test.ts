import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const docs = new URL('../../docs/', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, docs), 'utf8');
const cellsOf = (row: string): string[] => row.split('|').map((cell) => cell.trim());

describe('the index of decisions', () => {
  const files = readdirSync(new URL('decisions/', docs)).filter((name) => name !== 'README.md');
  const rows = [...read('decisions/README.md').matchAll(/^\| \[(\d{4})\]\(([^)]+)\) .*$/gm)].map(
    ([row, number = '', file = '']) => {
      const [, , title = '', status = ''] = cellsOf(row);
      return { number, file, title, status };
    },
  );

  it('has each decision once, and no other', () => {
    expect(rows.map(({ file }) => file).sort()).to.deep.equal(files.sort());
  });

  it('has numbers and titles as the decisions have them', () => {
    for (const { number, file, title } of rows) {
      const [first = ''] = read(`decisions/${file}`).split('\n');
      expect(file.slice(0, 5), file).to.equal(`${number}-`);
      expect(first.toLowerCase(), file).to.equal(`# ${number}: ${title}`.toLowerCase());
    }
  });

  it('says of each whether it is in force, and by what it was superseded', () => {
    for (const { file, status } of rows) {
      expect(status, file).to.match(/^(in force|(in part )?superseded by \[)/);
      const named = [...status.matchAll(/\[(\d{4})\]\(([^)]+)\)/g)];
      for (const [, number = '', target = ''] of named) {
        expect(files, `${file} names ${target}`).to.include(target);
        expect(target.slice(0, 5), file).to.equal(`${number}-`);
      }
    }
  });
});

describe('the glossary', () => {
  it('has each word once, in the order of the alphabet', () => {
    const [, table = ''] = read('guide/glossary.md').split('|---|---|---|\n');
    const words = table.split('\n').flatMap((row) => (row === '' ? [] : [cellsOf(row)[1] ?? '']));
    const single = words.flatMap((word) => word.split(', '));
    expect(new Set(single).size).to.equal(single.length);
    expect(words).to.deep.equal([...words].sort((one, other) => (one < other ? -1 : 1)));
    expect(single).to.include.members(['line', 'card', 'plan', 'charge', 'transaction', 'item']);
  });
});

describe('ARCHITECTURE.md', () => {
  const root = new URL('../../', import.meta.url);
  const text = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');

  it('names no file that is not there', () => {
    const named = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|js|md|json|peggy|sql))`/g)].map(
      ([, path = '']) => path,
    );
    expect(named).to.have.length.above(60);
    const places = ['', 'src/'];
    const missing = named.filter(
      (path) => !places.some((place) => existsSync(new URL(`${place}${path}`, root))),
    );
    expect(missing).to.deep.equal([]);
  });

  it('has a row for each folder of src', () => {
    const rows = [...text.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, name]) => name);
    const folders = readdirSync(new URL('src/', root), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(rows.sort()).to.deep.equal(folders.sort());
  });

  it('is right that no folder of src has more than 15 files', () => {
    const folders = readdirSync(new URL('src/', root), { withFileTypes: true, recursive: true });
    const counts = new Map<string, number>();
    for (const entry of folders) {
      if (entry.isFile()) counts.set(entry.parentPath, (counts.get(entry.parentPath) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > 15)).to.deep.equal([]);
  });
});
