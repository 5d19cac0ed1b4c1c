import { stringifyJson } from '../../kernel/text/json.js';
import { ApiClient } from '../moving-in/api-client.js';
import { checkFile } from './check-file.js';
import { faultLines } from './definition-file.js';
import type { FileOptions } from './workflow.js';

interface Published {
  readonly name: string;
  readonly version: number;
  readonly hash: string;
}

/** Publishes the definition of a file: a new workflow, or a new version of the one of its name. */
export async function createFromTerminal(file: string, { tenant }: FileOptions): Promise<void> {
  const api = await ApiClient.open(tenant);
  const { definition, faults } = await checkFile(file, api);
  if (faults.length > 0)
    throw new Error(`it is not valid:\n${faultLines(file, faults).join('\n')}`);
  const { name } = (definition as { readonly document: { readonly name: string } }).document;
  const path = `/v1/workflows/${encodeURIComponent(name)}`;
  const known = await api.find<{ readonly version: number | null }>(path);
  const body = stringifyJson({ definition });
  const made =
    known === null
      ? await api.post<Published>('/v1/workflows', body)
      : await api.put<Published>(path, body);
  const what = known?.version === made.version ? 'unchanged' : 'published';
  console.log(`${made.name}, version ${made.version} ${what} (${made.hash.slice(0, 12)})`);
}
