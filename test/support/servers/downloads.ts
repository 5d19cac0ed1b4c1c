import { readdir } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

/** The names of what a browser has kept, once there are so many: it gives a file its name when it has all of it. */
export async function keptFiles(folder: string, count: number): Promise<string[]> {
  for (;;) {
    const names = (await readdir(folder)).filter((name) => !/^\.|\.crdownload$/.test(name));
    if (names.length >= count) return names.sort();
    await wait(20);
  }
}
