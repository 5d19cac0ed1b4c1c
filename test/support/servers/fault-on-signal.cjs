/**
 * Loaded before the product (`node --require`): makes a fault of the kind that TEST_FAULT names when the
 * process is sent SIGWINCH, which nothing else listens to. Nothing of the product knows of it.
 */
const kind = process.env.TEST_FAULT;
const threads = [];
process.on('worker', (thread) => threads.push(thread));

const faults = {
  // The threads in which Temporal's workers run workflows.
  worker: () => threads.forEach((thread) => void thread.terminate()),
  exception: () => {
    throw new Error('thrown where nobody catches');
  },
  rejection: () => void Promise.reject(new Error('rejected where nobody waits')),
};

if (kind !== undefined) process.on('SIGWINCH', () => setImmediate(faults[kind]));
