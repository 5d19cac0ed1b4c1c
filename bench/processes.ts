import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A part of the benchmark in a process of its own, told what to do by messages. */
export interface BenchProcess {
  /** Sends a request and waits for its answer. */
  ask<T>(request: object): Promise<T>;
  stop(): Promise<void>;
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Starts `bench/<name>.ts` and waits until it says that it is ready. */
export async function startProcess(name: string, env: NodeJS.ProcessEnv): Promise<BenchProcess> {
  const path = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const child = fork(path, {
    env: { ...process.env, ...env },
    execArgv: [
      '--max-semi-space-size=32',
      '--heap-growing-percent=30',
      '--no-allocation-site-pretenuring',
      '--import=tsx',
    ],
  });
  let lastId = 0;
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`bench/${name}.ts ended with code ${code}`)));
  });
  return {
    ask: (request) => ask(child, { ...request, id: (lastId += 1) }),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.send({ id: (lastId += 1), do: 'stop' });
      }),
  };
}

function ask<T>(child: ChildProcess, request: { id: number }): Promise<T> {
  return new Promise((resolve, reject) => {
    const listen = (answer: Answer): void => {
      if (answer.id !== request.id) return;
      child.off('message', listen);
      if (answer.error === undefined) resolve(answer.result as T);
      else reject(new Error(answer.error));
    };
    child.on('message', listen);
    child.send(request);
  });
}

/** The other side: answers requests by their `do` until `stop`. */
export function serve(
  tasks: Readonly<Record<string, (request: never) => Promise<unknown>>>,
  close: () => Promise<void>,
): void {
  const reply = (answer: Answer): void => void process.send?.(answer);
  process.on('message', (request: { id: number; do: string }) => {
    if (request.do === 'stop') {
      void close().finally(() => process.exit(0));
      return;
    }
    const task = tasks[request.do];
    if (!task) return reply({ id: request.id, error: `no task '${request.do}'` });
    task(request as never).then(
      (result) => reply({ id: request.id, result }),
      (error: unknown) =>
        reply({ id: request.id, error: error instanceof Error ? String(error.stack) : 'failed' }),
    );
  });
  reply({ id: 0 });
}
