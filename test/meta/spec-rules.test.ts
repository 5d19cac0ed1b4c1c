import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../', import.meta.url));
const self = basename(fileURLToPath(import.meta.url));

interface Text {
  readonly path: string;
  /** With comments that go over several lines in one. */
  readonly text: string;
}

const textsIn = (folder: string): Text[] =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|js|cjs|md|peggy)$/.test(name) && basename(name) !== self)
    .map((name) => `${folder}/${name}`)
    .map((path) => ({
      path,
      text: readFileSync(root + path, 'utf8').replace(/\n[ \t]*(?:\*(?!\/)|\/\/)?[ \t]*/g, ' '),
    }));

const src = textsIn('src');
const test = textsIn('test');
const docs = textsIn('docs');
const all = [...src, ...test, ...docs];

/** `rating R7`: every rule of docs/spec, as often as it is there. */
const rules = docs.flatMap(({ path, text }) => {
  const [, name] = /^docs\/spec\/([a-z]+)\.md$/.exec(path) ?? [];
  return name === undefined
    ? []
    : [...text.matchAll(/- \*\*(R\d+)\*\* \S/g)].map(([, rule = '']) => `${name} ${rule}`);
});

/** `spec/rating.md R7, R9 to R11` is a citation of four rules. */
function citationsIn({ text }: Text): string[] {
  const found = text.matchAll(/spec\/([a-z]+)\.md ((?:(?:, | and | to )?R\d+)+)/g);
  return [...found].flatMap(([, name = '', list = '']) =>
    [...list.matchAll(/R(\d+)(?: to R(\d+))?/g)].flatMap(([, first, last]) => {
      const count = Number(last ?? first) - Number(first) + 1;
      return Array.from({ length: count }, (_each, at) => `${name} R${Number(first) + at}`);
    }),
  );
}

/** What `find` finds in any of the texts, with where it is. */
const foundIn = (texts: readonly Text[], find: (text: Text) => string[]): string[] =>
  texts.flatMap((text) => find(text).map((found) => `${text.path}: ${found}`));

describe('the rules of docs/spec', () => {
  it('have numbers of their own', () => {
    expect(rules.length).to.be.greaterThan(200);
    expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).to.deep.equal([]);
  });

  it('are there where they are cited', () => {
    const known = new Set(rules);
    const dead = foundIn(all, (text) => citationsIn(text).filter((rule) => !known.has(rule)));
    expect(dead).to.deep.equal([]);
  });

  it('are each cited by a test that shows them', () => {
    const cited = new Set(test.flatMap(citationsIn));
    expect(rules.filter((rule) => !cited.has(rule))).to.deep.equal([]);
  });
});

describe('references to documents', () => {
  it('are to decisions that are there', () => {
    const numbers = new Set(docs.map(({ path }) => /decisions\/(\d{4})-/.exec(path)?.[1]));
    const named = /\bdecisions?[/ ](0\d{3})\b/g;
    const dead = foundIn(all, ({ text }) =>
      [...text.matchAll(named)].flatMap(([found, number]) => (numbers.has(number) ? [] : [found])),
    );
    expect(dead).to.deep.equal([]);
  });

  it('are to documents of this repository', () => {
    const files = [
      ...docs.map(({ path }) => path),
      ...[...src, ...test].map(({ path }) => path).filter((path) => path.endsWith('.md')),
      ...readdirSync(root).filter((name) => name.endsWith('.md')),
    ];
    const isThere = (name: string) =>
      files.some((file) => `/${file}`.endsWith(`/${name.replace(/^[./]+/, '')}`));
    const dead = foundIn(all, ({ text }) => [
      ...[...text.matchAll(/[\w./-]*\w\.md\b/g)].map(([name]) => name).filter((n) => !isThere(n)),
      ...(text.match(/\bdocuments? [1-4]\b|\b0-decisions\b|\b4-beyond\b|\bissue \d+\b/gi) ?? []),
    ]);
    expect(dead).to.deep.equal([]);
  });
});
