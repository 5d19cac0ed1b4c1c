import { readdir, readFile } from 'node:fs/promises';
import { readText } from '../../../src/cli/workflows/definition-file.js';

const folder = new URL('../../../examples/workflows/', import.meta.url);
const guide = new URL('../../../docs/guide/', import.meta.url);

/** The names of the examples in `examples/workflows`. */
export async function exampleNames(): Promise<string[]> {
  const files = await readdir(folder);
  return files.map((file) => file.replace(/\.yaml$/, '')).sort();
}

/** Where the picture of an example is in the guide. */
export const picturePath = (name: string): URL => new URL(`workflow-${name}.svg`, guide);

/** What `wait` says with another time: a test has no week. */
function hurried(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(hurried);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      name === 'wait' ? { milliseconds: 20 } : hurried(one),
    ]),
  );
}

/** An example as it stands in its file. */
export async function readExample(name: string): Promise<object> {
  const { content, faults } = readText(await readFile(new URL(`${name}.yaml`, folder), 'utf8'));
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return content as object;
}

/** An example whose servers are this one, and whose waits are short. */
export async function runnableExample(name: string, serverUrl: string): Promise<object> {
  const text = JSON.stringify(hurried(await readExample(name)));
  return JSON.parse(
    text.replaceAll(
      /https:\/\/(\w+)\.example\.com/g,
      (_all, host: string) => `${serverUrl}/${host}`,
    ),
  ) as object;
}
