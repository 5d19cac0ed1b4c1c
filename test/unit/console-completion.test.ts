import { expect } from 'chai';
import { completionsAt } from '../../src/console/workflows/completion.js';
import { cursorOf } from '../../src/console/workflows/cursor.js';
import { definitionSchema } from '../../src/schemas/workflows/definition.js';

/** What can stand where ¦ is in a text. */
function at(text: string, operations: readonly string[] = []) {
  const cursor = cursorOf(text.replace('¦', ''), text.indexOf('¦'));
  return cursor ? completionsAt(definitionSchema, cursor, operations) : [];
}
const names = (text: string, operations?: readonly string[]): string[] =>
  at(text, operations).map(({ name }) => name);
const task = (text: string): string => `{"do": [{"first": {${text}}}, {"second": {}}]}`;

// spec/beyond.md R463
describe('completion of a definition', () => {
  it('knows the names of an object, what it must have first, and those not that it has', () => {
    expect(names('{¦')).to.deep.equal(['document', 'do', 'input', 'output', 'schedule']);
    expect(names('{"do": [], "¦')).to.deep.equal(['document', 'input', 'output', 'schedule']);
    expect(names('{"document": {"dsl": "1.0.0", ¦}}')).to.deep.equal([
      'namespace',
      'name',
      'version',
      'title',
      'summary',
    ]);
  });

  it('knows the kinds of tasks, and what goes with the one that is written', () => {
    const kinds = ['call', 'do', 'for', 'fork', 'switch', 'set', 'try', 'catch', 'raise', 'wait'];
    expect(names(task('¦')).slice(0, 12)).to.deep.equal([...kinds, 'listen', 'emit']);
    expect(names(task('"wait": "PT1H", "¦"'))).to.deep.equal([
      'if',
      'input',
      'output',
      'export',
      'then',
      'durabill.undo',
    ]);
    expect(names(task('"wait": "PT1H", "the¦"'))).to.deep.equal(['then']);
  });

  it('knows what can be called, and with what', () => {
    expect(names(task('"call": "htt¦"'))).to.deep.equal(['http']);
    expect(names(task('"call": "durabill.acc¦'))).to.include('durabill.account-create');
    expect(names(task('"call": "http", "with": {¦}'))).to.deep.equal([
      'method',
      'endpoint',
      'headers',
      'query',
      'body',
      'output',
    ]);
    const got = task('"call": "http", "with": {"method": "GET", ¦}');
    expect(names(got)).not.to.include('body');
    expect(names(task('"call": "http", "with": {"method": ¦}'))).to.include('POST');
    const operation = task('"call": "durabill.operation", "with": {"operationId": "invoice¦"}');
    expect(names(operation, ['getAccount', 'getInvoice', 'invoiceNow'])).to.deep.equal([
      'invoiceNow',
      'getInvoice',
    ]);
  });

  it('knows where a task can go on: later tasks of its list', () => {
    expect(names(task('"set": {}, "then": ¦'))).to.deep.equal([
      'continue',
      'exit',
      'end',
      'second',
    ]);
    const inCase = task('"switch": [{"big": {"then": "s¦"}}]');
    expect(names(inCase)).to.deep.equal(['second']);
  });

  it('writes a name with its colon, where it has none, and values as JSON', () => {
    const [name] = at('{"d¦"}');
    expect(name).to.include({ name: 'document', text: '"document": ' });
    expect(at('{"d¦": 1}')[0]?.text).to.equal('"document"');
    const cursor = cursorOf('{"do": 1, "inp": 2}', 13);
    expect(cursor).to.include({ typed: 'in', from: 10, to: 15, hasValue: true });
    const flag = task('"fork": {"branches": [], "compete": ¦}');
    expect(at(flag).map(({ text }) => text)).to.deep.equal(['true', 'false']);
  });

  it('reads what comes behind a text whose second quote is not there yet', () => {
    const text = '{"do": [{"first": {"call": "htt}}, {"second": {}}]}';
    expect(cursorOf(text, text.indexOf('}'))).to.include({ typed: 'htt', from: 27, to: 31 });
    expect(names('{"do": [{"first": {"set": {}, "then": "¦}}, {"second": {}}]}')).to.include(
      'second',
    );
  });

  it('is silent where neither a name nor a known value goes, whatever is written', () => {
    for (const text of ['{"do"¦', '{"do": []¦}', '{"document": {"name": "a¦', '¦', '}¦', '[,¦']) {
      expect(names(text), text).to.deep.equal([]);
    }
    const text = task('"call": "http", "with": {"method": "GET"}');
    for (let end = 0; end < text.length; end += 1) {
      for (const at of [0, end >> 1, end]) {
        const cursor = cursorOf(text.slice(0, end), at);
        if (cursor) completionsAt(definitionSchema, cursor, []);
      }
    }
  });
});
