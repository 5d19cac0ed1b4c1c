import type { Command } from 'commander';

export interface FileOptions {
  readonly tenant: string;
}

export interface ValidateOptions {
  readonly tenant?: string;
  readonly watch?: true;
}

export interface RunOptions {
  readonly tenant: string;
  readonly data?: string;
  readonly input?: string;
  readonly key?: string;
  readonly json?: true;
}

export interface LogsOptions {
  readonly tenant: string;
  readonly follow?: true;
  readonly json?: true;
}

/** `durabill workflow`: workflows of a tenant's own, from files in YAML or JSON. */
export function registerWorkflow(program: Command): void {
  const workflow = program
    .command('workflow')
    .description("Define and run workflows of a tenant's own.");
  workflow
    .command('validate')
    .description('Check definitions, and name each fault with its line.')
    .argument('<file...>', 'definitions in YAML or JSON')
    .option('--tenant <id>', 'check against the secrets of this tenant, on the running instance')
    .option('--watch', 'check again whenever a file changes')
    .addHelpText(
      'after',
      '\nWithout --tenant nothing has to run, and every name of a secret is taken. The exit code is 1 where there are faults.',
    )
    .action(async (files: string[], options: ValidateOptions) => {
      const { validateFromTerminal } = await import('./validate-run.js');
      await validateFromTerminal(files, options);
    });
  workflow
    .command('create')
    .description('Publish a definition: a new workflow, or a new version of the one of its name.')
    .argument('<file>', 'a definition in YAML or JSON')
    .requiredOption('--tenant <id>', 'tenant whose workflow it is')
    .action(async (file: string, options: FileOptions) => {
      const { createFromTerminal } = await import('./create-run.js');
      await createFromTerminal(file, options);
    });
  workflow
    .command('run')
    .description('Execute a workflow, and show its tasks as they go on.')
    .argument('<workflow>', 'name or id of a workflow')
    .requiredOption('--tenant <id>', 'tenant whose workflow it is')
    .option('--data <json>', 'its input as JSON; an empty object when left out')
    .option('--input <file>', 'a file with its input, YAML or JSON')
    .option('--key <text>', 'an Idempotency-Key: executed again, it is the same execution')
    .option('--json', 'print the execution as JSON and nothing else')
    .addHelpText(
      'after',
      '\nIt goes on when this command is stopped; `durabill workflow logs` shows it again. The exit code is 1 where it does not complete.',
    )
    .action(async (name: string, options: RunOptions) => {
      const { runFromTerminal } = await import('./execution-run.js');
      await runFromTerminal(name, options);
    });
  workflow
    .command('logs')
    .description('Show the tasks of an execution: what each did, and why it failed.')
    .argument('<workflow>', 'name or id of a workflow')
    .argument('[execution]', 'id of an execution; the latest when left out')
    .requiredOption('--tenant <id>', 'tenant whose workflow it is')
    .option('--follow', 'go on until it has ended')
    .option('--json', 'print each task as a line of JSON')
    .action(async (name: string, execution: string | undefined, options: LogsOptions) => {
      const { logsFromTerminal } = await import('./execution-run.js');
      await logsFromTerminal(name, execution, options);
    });
}
