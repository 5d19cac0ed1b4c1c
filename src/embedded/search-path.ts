import { delimiter, isAbsolute, join } from 'node:path';

/** Fetches the program into this empty folder and returns its path. */
export type Fetch = (folder: string, options: FetchOptions) => Promise<string>;

export interface FetchOptions {
  version: string;
  searchPath: string;
  onProgress: (text: string) => void;
  abort: AbortSignal;
}

/** Where a program of that name may lie, in the order of PATH. */
export function onSearchPath(name: string, searchPath: string): string[] {
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  return searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, file));
}
