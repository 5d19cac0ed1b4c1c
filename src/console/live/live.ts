import type { Query, QueryClient } from '@tanstack/react-query';
import { fetchSignedIn } from '../session/fetch-signed-in.ts';
import { isServerAway, listenToConnection } from '../session/connection.ts';
import { currentSession, listenToSession } from '../session/session.ts';

/** What has changed, as the stream says it. */
interface Changed {
  readonly usage: boolean;
  /** Null: more than are named. */
  readonly executions: readonly string[] | null;
}

/** As long as a stream may be asked for; another one follows it. */
const streamSeconds = 3_600;
/**
 * Between two looks at the same: a page asks again for a fifth of the time at most. So what others change
 * is shown within a second as long as answers take an eighth of one, also while more of it comes.
 */
const restMs = 500;
const restShare = 4;
const restMsMax = 30_000;
/** After a stream that broke off or was refused. */
const pauseMs = { first: 1_000, most: 30_000 };
/** What may be missed is read again all the same: seldom, and more often while nothing is heard. */
const rereadMs = { heard: 30_000, unheard: 5_000 };

let isHearing = false;

/**
 * Options of a query that is read again when usage was rated, when this execution, or any, has changed, or
 * when anything of it all has; see `followChanges`.
 */
export const live = (of: 'usage' | 'executions' | 'all', executionId?: string) => ({
  meta: { live: of, executionId },
  refetchInterval: () => (isHearing ? rereadMs.heard : rereadMs.unheard),
});

/** Whether a query shows something that has changed. */
function isChanged({ meta }: Query, changed: Changed): boolean {
  if (meta?.['live'] === 'all') return true;
  if (meta?.['live'] === 'usage') return changed.usage;
  if (meta?.['live'] !== 'executions') return false;
  const { executionId } = meta as { readonly executionId?: string };
  const { executions } = changed;
  return (
    executions === null ||
    (executionId === undefined ? executions.length > 0 : executions.includes(executionId))
  );
}

const anything: Changed = { usage: true, executions: null };

const together = (one: Changed | undefined, other: Changed): Changed => ({
  usage: one?.usage === true || other.usage,
  executions:
    one?.executions === null || other.executions === null
      ? null
      : [...(one?.executions ?? []), ...other.executions],
});

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Reads again what has changed, one time after the other, with rests between them. */
function openReader(client: QueryClient): (changed: Changed) => void {
  let waiting: Changed | undefined;
  let isReading = false;
  let wasAway = false;
  listenToConnection(() => {
    wasAway = true;
  });
  const readAll = async (): Promise<void> => {
    isReading = true;
    while (waiting !== undefined) {
      const changed = waiting;
      waiting = undefined;
      wasAway = false;
      const since = performance.now();
      await client.refetchQueries({
        type: 'active',
        predicate: (query) => isChanged(query, changed),
      });
      // Time in which the server was away says nothing of how long reading takes.
      const tookMs = wasAway ? 0 : performance.now() - since;
      await wait(Math.min(Math.max(restMs, tookMs * restShare), restMsMax));
    }
    isReading = false;
  };
  return (changed) => {
    waiting = together(waiting, changed);
    if (!isReading) void readAll();
  };
}

/** Calls back with each event until the stream ends; throws where there is none. */
async function hear(signal: AbortSignal, onChanged: (changed: Changed) => void): Promise<void> {
  const address = `/v1/changes?seconds=${String(streamSeconds)}`;
  const { ok, body } = await fetchSignedIn(new Request(address, { signal }));
  if (!ok || body === null) throw new Error('The server sends no events.');
  isHearing = true;
  // What has changed before, or since an earlier stream ended.
  setTimeout(() => onChanged(anything), restMs);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (text + part.value).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: ')) onChanged(JSON.parse(line.slice(6)) as Changed);
    }
  }
}

/** Whether anybody sees what would be read: a page in the background hears nothing. */
const isWanted = (): boolean =>
  document.visibilityState === 'visible' &&
  currentSession().status === 'signedIn' &&
  !isServerAway();

/**
 * Keeps a stream of changes open while somebody is signed in and looks (spec/beyond.md R423), and has
 * what changed read again where it is shown.
 */
export function followChanges(client: QueryClient): void {
  const onChanged = openReader(client);
  let abort: AbortController | undefined;
  let pause = pauseMs.first;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = async (): Promise<void> => {
    abort = new AbortController();
    const since = performance.now();
    await hear(abort.signal, onChanged).catch(() => undefined);
    isHearing = false;
    abort = undefined;
    // One that lasted was good; those that break off at once come ever more seldom.
    pause =
      performance.now() - since > pauseMs.most ? pauseMs.first : Math.min(pause * 2, pauseMs.most);
    timer = setTimeout(look, pause);
  };
  function look(): void {
    clearTimeout(timer);
    if (!isWanted()) abort?.abort();
    else if (abort === undefined) void follow();
  }
  // Each of these may be why it is wanted again.
  const wake = (): void => {
    pause = pauseMs.first;
    look();
  };
  document.addEventListener('visibilitychange', wake);
  listenToSession(wake);
  listenToConnection(wake);
  wake();
}
