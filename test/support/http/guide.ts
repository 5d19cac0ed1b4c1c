import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { marked, type Tokens } from 'marked';
import { repository, startProgram } from '../../start/workbench.js';

/** A command of the guide, and what the guide shows of its answer. */
interface Example {
  readonly command: string;
  /** Whether it is shown because it fails: the block begins with ```sh fails. */
  readonly fails: boolean;
  readonly shown: { readonly lang: 'json' | 'text'; readonly text: string } | null;
}

/** What stands between the outputs of two commands. */
const separator = '\u001e';

/** An answer that is an error ends the script, as it would end a person's reading. */
const strict = `exec 2>&1
set -e -o pipefail
curl() { command curl "$@" --fail-with-body --no-show-error; }
`;

export const chapterPath = (name: string): string => join(repository, 'docs', 'guide', name);

/** The examples of a chapter, in order; a block that nothing would check is a fault. */
export async function readExamples(name: string): Promise<Example[]> {
  const tokens = marked.lexer(await readFile(chapterPath(name), 'utf8'));
  const examples: Example[] = [];
  let isAnswered = true;
  for (const token of tokens) {
    if (token.type !== 'code') continue;
    const { lang = '', text } = token as Tokens.Code;
    if (lang === 'sh' || lang === 'sh fails') {
      examples.push({ command: text, fails: lang === 'sh fails', shown: null });
      isAnswered = false;
    } else if ((lang === 'json' || lang === 'text') && !isAnswered) {
      const last = examples.pop();
      if (last) examples.push({ ...last, shown: { lang, text } });
      isAnswered = true;
    } else throw new Error(`${name}: a block of '${lang}' that follows no command:\n${text}`);
  }
  return examples;
}

function scriptOf(example: Example): string {
  const { command, fails } = example;
  const run = fails ? `set +e\n${command}\n[ $? -ne 0 ] || exit 99\nset -e` : command;
  return `${run}\nprintf '${separator}'\n`;
}

/** Runs examples in one shell, as a reader pastes them, and answers with what each has printed. */
export async function runExamples(
  examples: readonly Example[],
  { url, env }: { readonly url: string; readonly env: Record<string, string> },
): Promise<string[]> {
  const script = examples.map(scriptOf).join('').replaceAll('http://localhost:3000', url);
  const shell = startProgram('bash', ['-c', strict + script], env);
  const code = await shell.ended;
  const outputs = shell.output().split(separator);
  expect(code, `of '${examples[outputs.length - 1]?.command}': ${outputs.at(-1)}`).to.equal(0);
  return outputs;
}

/** Compares what the guide shows with what came: members and lines that are left out do not matter. */
export function checkShown({ command, shown }: Example, output: string): void {
  if (shown === null) return;
  if (shown.lang === 'json') {
    expectPart(JSON.parse(output), JSON.parse(shown.text), `the answer to '${command}'`);
    return;
  }
  let from = 0;
  for (const line of shown.text.split('\n').map((text) => text.trim())) {
    const at = output.indexOf(line, from);
    expect(at, `'${line}' in what '${command}' printed: ${output}`).to.be.at.least(0);
    from = at + line.length;
  }
}

function expectPart(found: unknown, part: unknown, where: string): void {
  if (Array.isArray(part)) {
    expect(found, where).to.be.an('array').with.lengthOf(part.length);
    part.forEach((item, index) =>
      expectPart((found as unknown[])[index], item, `${where}[${index}]`),
    );
  } else if (typeof part === 'object' && part !== null) {
    expect(found, where).to.be.an('object');
    for (const [name, member] of Object.entries(part)) {
      expectPart((found as Record<string, unknown>)[name], member, `${where}.${name}`);
    }
  } else expect(found, where).to.equal(part);
}
