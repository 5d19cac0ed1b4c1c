import threads, { Worker, type WorkerOptions } from 'node:worker_threads';

const isOfWorkflows = (file: string | URL): boolean =>
  String(file).endsWith('/workflow-worker-thread.js');

/**
 * Threads of workflows run JavaScript that is bundled already. The hook that reads TypeScript, which
 * they would have from their process, takes half of the processor time of their start.
 */
export function startWorkflowThreadsPlain(): void {
  class PlainWorker extends Worker {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      super(file, isOfWorkflows(file) ? { ...options, execArgv: [] } : options);
    }
  }
  Object.assign(threads, { Worker: PlainWorker });
}
