import { setTimeout as sleep } from 'node:timers/promises';
import { hasEnded, signal, type ProcessIdentity } from './processes.js';
import { firstLine } from '../platform/startup-error.js';

/** A server process that answers, whether we started it or found it. */
export interface RunningServer {
  process: ProcessIdentity;
  exited: Promise<void>;
}

export interface SupervisedServer {
  /** Ends the server in good order; the data are complete afterwards. */
  stop: () => Promise<void>;
  /** For the last moment of our own process: asks the server to end, waits for nothing. */
  abandon: () => void;
}

export interface Supervision {
  name: string;
  /** Starts the server, or finds it, and resolves when it answers. */
  launch: () => Promise<RunningServer>;
  stopSignal: NodeJS.Signals;
  /** After this time a server that was asked to end is killed; both keep their data through that. */
  stopTimeoutMs: number;
  onWarning: (text: string) => void;
}

/**
 * Keeps an embedded server running: when it dies, it is started again in place (same port, same
 * data), so that clients only have to reconnect.
 */
export async function supervise(supervision: Supervision): Promise<SupervisedServer> {
  const { name, launch, stopSignal, stopTimeoutMs, onWarning } = supervision;
  let isStopping = false;
  let running: RunningServer | undefined = await launch();
  const watching = watch();

  async function watch(): Promise<void> {
    while (!isStopping) {
      await running?.exited;
      if (isStopping) return;
      const died = Date.now();
      onWarning(`${name} (process ${running?.process.pid ?? '?'}) has died; starting it again`);
      running = undefined;
      running = await relaunch();
      if (running !== undefined) onWarning(`${name} is back after ${Date.now() - died} ms`);
    }
  }

  async function relaunch(): Promise<RunningServer | undefined> {
    for (let pauseMs = 100; !isStopping; pauseMs = Math.min(2 * pauseMs, 5000)) {
      try {
        return await launch();
      } catch (error) {
        onWarning(`${name} does not start: ${firstLine(error)}; next attempt in ${pauseMs} ms`);
        await sleep(pauseMs, undefined, { ref: false });
      }
    }
    return undefined;
  }

  return {
    async stop() {
      isStopping = true;
      if (running === undefined) await watching;
      if (running === undefined) return;
      await endProcess(running.process, stopSignal, stopTimeoutMs);
    },
    abandon() {
      isStopping = true;
      if (running !== undefined) signal(running.process.pid, stopSignal);
    },
  };
}

/** Ends a process: politely first, and with SIGKILL when it takes longer than it may. */
export async function endProcess(
  known: ProcessIdentity,
  polite: NodeJS.Signals,
  timeoutMs: number,
): Promise<void> {
  signal(known.pid, polite);
  if (await hasEnded(known, timeoutMs)) return;
  signal(known.pid, 'SIGKILL');
  await hasEnded(known, 5000);
}
