/** Writes what the console knows of the API, as types: from the declarations, to `.cache/`. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { compile } from '../bin/compile.js';

const file = join(fileURLToPath(new URL('..', import.meta.url)), '.cache/console/api.d.ts');

await compile();
const { modules, operations } = await import('../dist/schemas/index.js');
const { describeApi } = await import('../dist/schemas/openapi/openapi.js');
const declared = Object.values(operations).flatMap((ofResource) => Object.values(ofResource));
const document = describeApi(declared, modules, { version: '', picklist: () => [] });
const source = await readFile(new URL(import.meta.url));
const mark = createHash('sha256').update(source).update(JSON.stringify(document)).digest('hex');
const first = `// ${mark}\n`;
const known = await readFile(file, 'utf8').catch(() => '');
if (!known.startsWith(first)) {
  const digits = ts.factory.createTypeReferenceNode('Digits');
  const nodes = await openapiTS(document, {
    // Objects of a tenant's own making may have anything, not nothing.
    emptyObjectsUnknown: true,
    inject: "import type { Digits } from '../../src/console/api/digits.ts';",
    // The console reads numbers as their text: no digit is lost.
    transform: ({ type }) => {
      const types = [type].flat();
      if (!types.includes('number') && !types.includes('integer')) return undefined;
      return types.includes('null')
        ? ts.factory.createUnionTypeNode([
            digits,
            ts.factory.createLiteralTypeNode(ts.factory.createNull()),
          ])
        : digits;
    },
  });
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, first + astToString(nodes));
}
