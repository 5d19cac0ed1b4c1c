import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ArchiveStore } from '../../messages/ageing/usage-archive.js';

/** Has what was done in a folder kept through a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Archives in a folder; a file has its name when all of it is on the disk. */
export function openFolderStore(url: string): ArchiveStore {
  const root = fileURLToPath(url);
  return {
    address: url,
    async write(name, bytes) {
      const path = join(root, name);
      const folder = dirname(path);
      await mkdir(folder, { recursive: true });
      const unfinished = `${path}.${randomUUID()}.unfinished`;
      try {
        const handle = await open(unfinished, 'wx');
        try {
          await handle.writeFile(bytes);
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(unfinished, path);
        await syncFolder(folder);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },
    async read(name) {
      try {
        return await readFile(join(root, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
  };
}
