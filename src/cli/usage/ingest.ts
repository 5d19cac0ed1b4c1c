import type { Command } from 'commander';

interface IngestOptions {
  readonly tenant?: string;
  readonly org?: string;
  readonly token?: string;
  readonly url?: string;
  readonly service?: string;
  readonly restart?: true;
}

/** `durabill ingest FILE`: sends a file of usage, resumably and safe to repeat. */
export function registerIngest(program: Command): void {
  program
    .command('ingest')
    .description(
      'Send the usage events of a file (NDJSON, or CSV by its ending) to the running instance.',
    )
    .argument('<file>', 'NDJSON: a line is an ingestion body or its message; CSV: see README')
    .option('--tenant <id>', 'tenant to send for, when no token is given')
    .option('--org <id>', 'organization of the usage', 'command-line')
    .option('--token <token>', 'token or access key to send with, instead of --tenant')
    .option('--url <address>', 'API to send to; the running instance by default')
    .option('--service <id>', 'service of events that name none, by its id, name or code')
    .option('--restart', 'send the file from its beginning, not from where an earlier run stopped')
    .addHelpText(
      'after',
      `
CSV: the columns externalTransactionId, eventTimestamp, billingAccountRef, serviceId (or --service) and
dimensions.NAME for each dimension, separated by commas, semicolons or tabs. A row that cannot be read
is named and left out. It ends when all of it is rated: accepted = rated + duplicate + rejected +
pending, with the reasons; the exit code is 1 when a row was refused or rejected. The token needs the
role READER to tell that.
An interrupted run goes on where it stopped when it is started again; sending an event twice is
harmless, because its externalTransactionId is rated once.`,
    )
    .action(async (file: string, options: IngestOptions) => {
      const { runIngest } = await import('./ingest-run.js');
      await runIngest(file, options);
    });
}
