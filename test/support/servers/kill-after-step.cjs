/**
 * Loaded before the product (`node --require`): of an execution of a definition whose input names a step
 * as `killAfter`, the process dies with SIGKILL when that step has been committed and before Temporal is
 * told of it; once, as a file in TEST_KILL_STEPS says. Another file lists the steps of each execution.
 * Nothing of the product knows of it.
 */
const { appendFileSync, existsSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { isMainThread } = require('node:worker_threads');

const folder = process.env.TEST_KILL_STEPS;
const isProduct = /durabill\.js$/.test(process.argv[1] ?? '') && process.argv[2] === 'start';

/** A step by its activity and by the runs of tasks that it is for. */
function nameOf(type, input) {
  if (Array.isArray(input))
    return [type, ...input.map(({ seq, status }) => seq + status)].join(' ');
  return [type, input?.seq, input?.isUndo ? 'undo' : undefined].filter(Boolean).join(' ');
}

const killer = ({ info }) => ({
  inbound: {
    async execute(given, next) {
      const result = await next(given);
      const [{ run, input } = {}] = given.args;
      const { key, killAfter } = run?.input?.start ?? {};
      if (key === undefined || !info.taskQueue.endsWith('-definitions')) return result;
      const step = nameOf(info.activityType, input);
      appendFileSync(join(folder, `${key}.steps`), `${step}\n`);
      const killed = join(folder, `${key}.killed`);
      if (step !== killAfter || existsSync(killed)) return result;
      writeFileSync(killed, step);
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    },
  },
});

if (folder !== undefined && isProduct && isMainThread) {
  const { Worker } = require('@temporalio/worker');
  const { create } = Worker;
  Worker.create = (options) => {
    const activity = [...(options.interceptors?.activity ?? []), killer];
    return create.call(Worker, {
      ...options,
      interceptors: { ...options.interceptors, activity },
    });
  };
}
