import { readFile } from 'node:fs/promises';
import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import { parseJson } from '../../kernel/text/json.js';

/** What is wrong with a file, where. */
export interface FileFault {
  readonly line: number;
  readonly column: number;
  readonly pointer: string;
  readonly message: string;
}

/** A file in YAML, of which JSON is a part, and where what stands in it. */
export interface ReadFile {
  readonly content: unknown;
  readonly faults: readonly FileFault[];
  /** The place that a JSON pointer names; of what is missing, that of what it is missing in. */
  placeOf(pointer: string): { readonly line: number; readonly column: number };
}

/** No definition may be longer (spec/beyond.md R331), and nobody writes input by hand that is. */
const bytesMax = 1_048_576;
/** Aliases that stand for much: more would fill the memory. */
const aliasesMax = 100;

const partsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

const startOf = (node: unknown): number | undefined =>
  (node as { range?: readonly number[] | null } | null)?.range?.[0];

/** A number of YAML with every digit that is written, as the API reads it. */
function exactNumber(source: string, value: number): unknown {
  if (/^0[ox]/.test(source)) return parseJson(String(BigInt(source)));
  const written = /^([-+]?)0*(\d*)(\.\d*)?(e.*)?$/i.exec(source);
  if (!written) return value;
  const [, sign, whole, part = '', exponent = ''] = written;
  return parseJson(
    `${sign === '-' ? '-' : ''}${whole === '' ? '0' : whole}${part === '.' ? '' : part}${exponent}`,
  );
}

/** Reads a text in YAML or JSON. */
export function readText(text: string): ReadFile {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const at = (offset: number): { line: number; column: number } => {
    const { line, col } = counter.linePos(offset);
    return { line, column: col };
  };
  const placeOf = (pointer: string): { line: number; column: number } => {
    let node: unknown = document.contents;
    let offset = startOf(node) ?? 0;
    for (const part of partsOf(pointer)) {
      if (isMap(node)) {
        const pair = node.items.find(
          (each) => isScalar(each.key) && String(each.key.value) === part,
        );
        offset = startOf(pair?.key) ?? offset;
        node = pair?.value;
      } else if (isSeq(node)) {
        const item = node.items[Number(part)];
        offset = startOf(item) ?? offset;
        node = isPair(item) ? item.value : item;
      } else node = undefined;
      if (node === undefined || node === null) break;
    }
    return at(offset);
  };
  const faults: FileFault[] = document.errors.map(({ message, pos }) => ({
    ...at(pos[0]),
    pointer: '',
    message,
  }));
  visit(document, {
    Scalar(key, node) {
      if (typeof node.value !== 'number' || node.source === undefined) return;
      // A name is what is written, as in JSON.
      node.value = key === 'key' ? node.source : exactNumber(node.source, node.value);
    },
    Alias(_key, node, path) {
      const target = node.resolve(document);
      if (target === undefined || !path.includes(target)) return;
      const message = `*${node.source} stands within what it names, so that it has no end.`;
      faults.push({ ...at(startOf(node) ?? 0), pointer: '', message });
    },
  });
  if (faults.length > 0) return { content: undefined, faults, placeOf };
  try {
    return { content: document.toJS({ maxAliasCount: aliasesMax }), faults, placeOf };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { content: undefined, faults: [{ line: 1, column: 1, pointer: '', message }], placeOf };
  }
}

/** Reads a file in YAML or JSON. Throws where there is none, or it is too long. */
export async function readYamlFile(file: string): Promise<ReadFile> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`There is no file ${file}.`) : error;
  });
  if (bytes.byteLength > bytesMax) throw new Error(`${file} has more than ${bytesMax} bytes.`);
  return readText(bytes.toString('utf8'));
}

/** A line for each fault, in the form that editors and terminals make links of. */
export const faultLines = (file: string, faults: readonly FileFault[]): string[] =>
  faults.map(
    ({ line, column, pointer, message }) =>
      `${file}:${line}:${column}: ${pointer === '' ? '' : `${pointer}: `}${message}`,
  );

/** The input of an execution: JSON given as text, or a file. Throws where it is no object. */
export async function readInput({
  data,
  input,
}: {
  readonly data?: string;
  readonly input?: string;
}): Promise<object> {
  if (data !== undefined && input !== undefined)
    throw new Error('Give --data or --input, not both.');
  const read = input === undefined ? undefined : await readYamlFile(input);
  if (input !== undefined && read && read.faults.length > 0) {
    throw new Error(faultLines(input, read.faults).join('\n'));
  }
  const content = read ? read.content : parseJson(data ?? '{}');
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content;
  throw new Error('The input is no JSON object.');
}
