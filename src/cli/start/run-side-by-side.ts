import { Listr, type ListrTask } from 'listr2';

/** Reports the present activity of a step. */
export type Tell = (text: string) => void;

export interface Step {
  title: string;
  /** Returns the text to show after the title of the finished step. */
  work: (tell: Tell) => Promise<string>;
}

/** A building time of minutes should not fill a log file with a line for every second. */
const PLAIN_INTERVAL_MS = 10_000;

/**
 * Runs lines of steps: the lines side by side, the steps of a line one after another. Rejects with
 * the first failure, but only when every line has ended, so that nothing is still being started.
 */
export async function runSteps(lines: readonly (readonly Step[])[]): Promise<void> {
  const isPlain = !process.stdout.isTTY;
  const failures: unknown[] = [];
  const tasks = lines.map((steps): ListrTask => {
    const own = steps.map((step) => toTask(step, isPlain, failures));
    const [first] = own;
    if (own.length === 1 && first !== undefined) return first;
    return {
      task: (_context, task) => task.newListr(own, { concurrent: false, exitOnError: true }),
    };
  });
  const list = new Listr(tasks, {
    concurrent: true,
    exitOnError: false,
    // Ctrl-C is handled by us: listr2 would exit at once.
    registerSignalListeners: false,
    renderer: isPlain ? 'silent' : 'default',
    rendererOptions: { collapseSubtasks: false },
  });
  await list.run();
  if (failures.length > 0) throw failures[0];
}

function toTask({ title, work }: Step, isPlain: boolean, failures: unknown[]): ListrTask {
  return {
    title,
    task: async (_context, task) => {
      const started = Date.now();
      const tell = isPlain ? plainTell(title) : (text: string) => void (task.output = text);
      try {
        const result = await work(tell);
        const seconds = ((Date.now() - started) / 1000).toFixed(1);
        task.title = `${title}: ${result} (${seconds} s)`;
        if (isPlain) process.stdout.write(`${task.title}\n`);
      } catch (error) {
        failures.push(error);
        // The reason is printed once, at the end, by the command line.
        throw new Error(title, { cause: error });
      }
    },
  };
}

function plainTell(title: string): Tell {
  let next = 0;
  return (text) => {
    if (Date.now() < next) return;
    next = Date.now() + PLAIN_INTERVAL_MS;
    process.stdout.write(`${title}: ${text} ...\n`);
  };
}
