/** Whether the server answered when it was last asked. */
let isAway = false;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Between two looks at a server that is away. */
const everyMs = 2_000;

function become(next: boolean): void {
  if (next === isAway) return;
  isAway = next;
  for (const listener of listeners) listener();
}

const answers = async (): Promise<boolean> =>
  (await fetch('/healthz').catch(() => undefined))?.ok === true;

async function look(): Promise<void> {
  timer = undefined;
  if (await answers()) become(false);
  else timer = setTimeout(() => void look(), everyMs);
}

/** The server did not answer: it is looked for until it does. */
export function reportAway(): void {
  become(true);
  timer ??= setTimeout(() => void look(), everyMs);
}

export function reportBack(): void {
  become(false);
}

export const isServerAway = (): boolean => isAway;

export function listenToConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** False at once where the server answers; else true, once it does again. */
export async function untilBack(): Promise<boolean> {
  if (await answers()) return false;
  reportAway();
  await new Promise<void>((resolve) => {
    const stop = listenToConnection(() => {
      if (isAway) return;
      stop();
      resolve();
    });
  });
  return true;
}
