import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkFile } from '../../../src/cli/workflows/check-file.js';
import { faultLines, readText, readYamlFile } from '../../../src/cli/workflows/definition-file.js';
import { stringifyJson } from '../../../src/kernel/text/json.js';

const head = `document:
  dsl: 1.0.0
  namespace: acme
  name: large
  version: 1.0.0
`;

async function faultsOf(text: string, name = 'large.yaml'): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'durabill-workflow-'));
  const file = join(folder, name);
  await writeFile(file, text);
  return faultLines(name, (await checkFile(file, undefined)).faults);
}

describe('files of workflows', () => {
  // spec/beyond.md R356
  it('are checked with line and column of each fault', async () => {
    expect(await faultsOf(`${head}do:\n  - keep:\n      set: {size: 1}\n`)).to.deep.equal([]);
    const faults = await faultsOf(`${head}do:
  - look:
      call: durabill.operation
      with: {operationId: getAcount}
  - judge:
      set:
        # A comment moves nothing.
        large: \${ inptu.amount > 1 }
`);
    expect(faults).to.have.length(2);
    expect(faults[0]).to.match(/^large\.yaml:9:14: \/do\/0\/look\/with\/operationId: There is no/);
    expect(faults[1]).to.match(/^large\.yaml:13:9: \/do\/1\/judge\/set\/large: /);
  });

  it('may be JSON, and name what is missing where it is missing', async () => {
    const json = `{\n  "document": {"dsl": "1.0.0", "namespace": "a", "version": "1.0.0"},\n  "do": [{"a": {"set": {}}}]\n}`;
    const [fault] = await faultsOf(json, 'large.json');
    expect(fault).to.match(/^large\.json:2:3: \/document\/name: 'name' is required/);
  });

  it('say where they are no YAML', () => {
    const [broken] = readText('do:\n  - a: [1\n').faults;
    expect(broken).to.include({ line: 3 });
  });

  // spec/beyond.md R417
  const numbers: readonly [string, string][] = [
    ['0.1234', '0.1234'],
    ['0.12345678901234567891', '0.12345678901234567891'],
    ['&n 1234567890123.123456789012', '1234567890123.123456789012'],
    ['+12345678901234567891', '12345678901234567891'],
    ['-0012345678901234567891', '-12345678901234567891'],
    ['.12345678901234567891', '0.12345678901234567891'],
    ['-12345678901234567891.', '-12345678901234567891'],
    ['1.e3', '1000'],
    ['1e400', '1e400'],
    ['0x20000000000001', '9007199254740993'],
    ['0o17', '15'],
    ['.inf', 'null'],
    ['"0.12345678901234567891"', '"0.12345678901234567891"'],
  ];
  for (const [written, sent] of numbers) {
    it(`send ${written} as ${sent}`, () => {
      const { content, faults } = readText(`a: [${written}]\n`);
      expect(faults).to.deep.equal([]);
      expect(stringifyJson(content)).to.equal(`{"a":[${sent}]}`);
    });
  }

  it('keep names that are numbers as they are written', () => {
    const read = readText('a:\n  12345678901234567891: {b: 1}\n');
    const { content, faults } = read;
    expect(faults).to.deep.equal([]);
    expect(stringifyJson(content)).to.equal('{"a":{"12345678901234567891":{"b":1}}}');
    expect(read.placeOf('/a/12345678901234567891/b')).to.deep.equal({ line: 2, column: 26 });
  });

  it('say where an alias stands within what it names', () => {
    const { content, faults } = readText('do:\n  - a:\n      set: &s { self: *s }\n');
    expect(content).to.equal(undefined);
    const message = '*s stands within what it names, so that it has no end.';
    expect(faults).to.deep.equal([{ line: 3, column: 23, pointer: '', message }]);
  });

  it('say that there is none', async () => {
    const failed = await readYamlFile('none.yaml').catch((error: unknown) => error);
    expect(failed).to.have.property('message', 'There is no file none.yaml.');
  });

  it('do not fill the memory with aliases', () => {
    const lines = ['a: &a [1,1,1,1,1,1,1,1,1,1]'];
    for (const [of, name] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg'].map((two) => [...two])) {
      lines.push(
        `${name ?? ''}: &${name ?? ''} [${Array.from({ length: 10 }, () => `*${of ?? ''}`).join()}]`,
      );
    }
    const [fault] = readText(lines.join('\n')).faults;
    expect(fault?.message).to.include('alias');
  });
});
