import { readdir, readFile, writeFile } from 'node:fs/promises';
import proto from '@temporalio/proto';

const folder = new URL('./histories/', import.meta.url);
const { History } = proto.temporal.api.history.v1;
export type History = ReturnType<typeof History.fromObject>;

/** Which process on which machine did it, and in which folder, is nobody's business. */
function withoutMachine(name: string, value: unknown): unknown {
  if (name === 'stackTrace') return '';
  if (name === 'identity') return 'worker';
  // A worker's own queue is called after its process and machine.
  return name === 'name' && typeof value === 'string' ? value.replace(/^\d+@.*$/, 'worker') : value;
}

/**
 * Histories are files of JSON. The SDK has functions for that, which fail when npm has installed
 * protobufjs in more than one place; these use the classes of the protocol itself. A history that is
 * there stays as it is: then the answer is false.
 */
export async function writeHistory(name: string, history: object): Promise<boolean> {
  const plain = History.toObject(History.fromObject(history), {
    longs: String,
    bytes: String,
    enums: String,
  });
  const text = JSON.stringify(plain, withoutMachine, 1);
  const file = new URL(`${name}.json`, folder);
  return writeFile(file, `${text}\n`, { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

export async function readHistory(name: string): Promise<History> {
  const text = await readFile(new URL(name, folder), 'utf8');
  return History.fromObject(JSON.parse(text) as object);
}

export async function listHistories(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
}
