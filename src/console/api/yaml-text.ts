import { isMap, LineCounter, parseDocument, visit } from 'yaml';
import { writeExact } from './exact-json.ts';
import { linesOf } from './written-json.ts';

/** Aliases that stand for much: more would fill the memory. */
const aliasesMax = 100;
const numberOfJson = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A definition in YAML as JSON, with its numbers as they are written. Throws where it is none, and says where. */
export function jsonOfYaml(text: string): string {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const [fault] = document.errors;
  if (fault) {
    const { line, col } = counter.linePos(fault.pos[0]);
    throw new Error(`It is no YAML either. Line ${line}, column ${col}: ${fault.message}`);
  }
  if (!isMap(document.contents)) throw new Error('It is no YAML of a definition either.');
  visit(document, {
    Scalar(key, node) {
      const { source, value } = node;
      if (typeof value !== 'number' || source === undefined) return;
      if (key === 'key') node.value = source;
      else if (numberOfJson.test(source)) node.value = { '#': source };
    },
  });
  return linesOf({ json: writeExact(document.toJS({ maxAliasCount: aliasesMax })) });
}
