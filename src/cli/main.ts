import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { registerAccessKey } from './access/access-key.js';
import { registerCell } from './cells/cell.js';
import { registerArchive } from './ageing/usage-archive.js';
import { registerAudit } from './access/audit.js';
import {
  registerAuditSchedule,
  registerBillingRun,
  registerBillingSchedule,
} from './billing/billing.js';
import { registerCorrect } from './usage/correct.js';
import { registerWhatIf } from './usage/what-if.js';
import { registerDemo } from './demo/demo.js';
import { registerExport } from './exports/export.js';
import { registerGrant } from './access/grant.js';
import { registerImport } from './moving-in/import.js';
import { registerIngest } from './usage/ingest.js';
import { registerMcpClient } from './access/mcp-client.js';
import { registerMigrate } from './start/migrate.js';
import { registerOpenApi } from './openapi.js';
import { registerParity } from './moving-in/parity.js';
import { registerProjections } from './usage/projection.js';
import { registerSecrets } from './access/secrets.js';
import { registerSigningKey } from './access/signing-key.js';
import { registerStart } from './start/start.js';
import { registerStatus } from './start/status.js';
import { registerStop } from './start/stop.js';
import { registerTenant } from './access/tenant.js';
import { registerToken } from './access/token.js';
import { registerUsageRange } from './usage/lost-usage.js';
import { variablesHelp } from './variables.js';
import { registerWebhook } from './webhooks/webhook.js';
import { registerWorkflow } from './workflows/workflow.js';

// Each register function only describes its command; what the command needs is imported when it
// runs, so that --help is quick.
const commands = [
  registerStart,
  registerStatus,
  registerStop,
  registerMigrate,
  registerToken,
  registerAccessKey,
  registerGrant,
  registerTenant,
  registerCell,
  registerMcpClient,
  registerSigningKey,
  registerSecrets,
  registerAudit,
  registerIngest,
  registerImport,
  registerParity,
  registerCorrect,
  registerWhatIf,
  registerExport,
  registerArchive,
  registerUsageRange,
  registerProjections,
  registerBillingRun,
  registerBillingSchedule,
  registerAuditSchedule,
  registerWorkflow,
  registerWebhook,
  registerDemo,
  registerOpenApi,
];

/** The one of package.json, which is beside `src` as beside `dist`. */
const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };

const program = new Command('durabill')
  .description('Usage-based billing on durable execution.')
  .version(version, '-V, --version', 'print the version')
  .option('--debug', 'show the stack of an error')
  .showHelpAfterError('(durabill --help lists the commands)')
  .configureHelp({ sortSubcommands: true })
  .addHelpText('after', variablesHelp);
for (const register of commands) register(program);

try {
  await program.parseAsync();
} catch (error) {
  const isDebug = program.opts<{ debug?: true }>().debug === true;
  const text = error instanceof Error ? (isDebug ? error.stack : error.message) : String(error);
  process.stderr.write(`durabill: ${(text ?? '').trim() || 'failed without a reason'}\n`);
  // What the failed command opened must not keep the process.
  process.exit(1);
}
