import { definitionFaults } from '../../commands/workflows/check-definition.js';
import { stringifyJson } from '../../kernel/text/json.js';
import type { ApiClient } from '../moving-in/api-client.js';
import { readYamlFile, type FileFault } from './definition-file.js';

interface Fault {
  readonly pointer: string;
  readonly message: string;
}

/** A definition of a file, and what is wrong with it. */
export interface CheckedFile {
  readonly definition: unknown;
  readonly faults: readonly FileFault[];
}

/** Every name of a secret: nobody is asked which there are. */
class AnyName extends Set<string> {
  override has(): boolean {
    return true;
  }
}

async function askForFaults(api: ApiClient, definition: unknown): Promise<readonly Fault[]> {
  const body = stringifyJson({ definition: definition ?? {} });
  const { faults } = await api.post<{ readonly faults: readonly Fault[] }>(
    '/v1/workflows/validate',
    body,
  );
  return faults;
}

/** Checks the definition of a file, on the running instance or here. */
export async function checkFile(file: string, api: ApiClient | undefined): Promise<CheckedFile> {
  const read = await readYamlFile(file);
  const { content: definition, faults } = read;
  if (faults.length > 0) return { definition, faults };
  const found = api
    ? await askForFaults(api, definition)
    : definitionFaults(definition, { secrets: new AnyName() });
  const placed = found.map((fault) => ({ ...fault, ...read.placeOf(fault.pointer) }));
  return { definition, faults: placed.sort((a, b) => a.line - b.line || a.column - b.column) };
}
