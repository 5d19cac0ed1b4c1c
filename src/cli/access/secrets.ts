import type { Command } from 'commander';

async function sealAgain(): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { sealSigningKeysAgain } = await import('../../access/signing-keys.js');
  const { listTenants } = await import('../../access/tenants.js');
  const { sealWebhookSecretsAgain } =
    await import('../../commands/webhooks/seal-webhook-secrets.js');
  const { sealWorkflowSecretsAgain } =
    await import('../../commands/workflows/seal-workflow-secrets.js');
  const lost = await withInstance(async ({ database, secrets }) => {
    const keys = await sealSigningKeysAgain(database.platform, secrets);
    const unreadable = [...keys.lost];
    let webhooks = 0;
    let workflows = 0;
    const again = (sealed: string): string | undefined => secrets.sealAgain(sealed);
    // One tenant after the other, since row-level security shows one at a time.
    for (const { id } of await listTenants(database.platform)) {
      const trail = { actor: 'secrets-seal', requestId: 'secrets-seal' };
      const db = database.forTenant(id, trail, 'batch');
      const ofWebhooks = await sealWebhookSecretsAgain(db, again);
      const ofWorkflows = await sealWorkflowSecretsAgain(db, again);
      webhooks += ofWebhooks.sealed;
      workflows += ofWorkflows.sealed;
      unreadable.push(...ofWebhooks.lost, ...ofWorkflows.lost);
    }
    process.stdout.write(`signing keys sealed anew\t${keys.sealed}\n`);
    process.stdout.write(`secrets of webhooks sealed anew\t${webhooks}\n`);
    process.stdout.write(`secrets of workflows sealed anew\t${workflows}\n`);
    return unreadable;
  });
  lost.push(...(await signAgain()));
  if (lost.length === 0) return;
  throw new Error(`No key of SECRET_KEY has sealed or signed these: ${lost.join(', ')}.`);
}

/** Signs schedules again; returns those that cannot be signed. */
async function signAgain(): Promise<readonly string[]> {
  const { withInstance } = await import('../start/instance.js');
  const { isTemporalKnown, withTemporal } = await import('../start/temporal-access.js');
  const { signSchedulesAgain } = await import('../../flows/billing/billing-schedule.js');
  const { listTenants } = await import('../../access/tenants.js');
  if (!(await isTemporalKnown())) {
    process.stderr.write(
      'Schedules were not signed anew: run this with TEMPORAL_ADDRESS before the old key goes.\n',
    );
    return [];
  }
  const tenants = await withInstance(({ database }) => listTenants(database.platform));
  const ids = tenants.map(({ id }) => id);
  const { signed, lost } = await withTemporal((place) => signSchedulesAgain(place, ids));
  process.stdout.write(`schedules signed anew\t${signed}\n`);
  return lost.map((id) => `schedule ${id}`);
}

/** `durabill secrets seal`: the last step but one of replacing SECRET_KEY (docs/decisions/0155). */
export function registerSecrets(program: Command): void {
  const group = program.command('secrets').description('Replace the key that seals secrets.');
  group
    .command('seal')
    .description('Seal all secrets in the database anew, with the first key of SECRET_KEY.')
    .addHelpText(
      'after',
      `
SECRET_KEY holds several keys with commas: the first one seals, all of them open. To replace a key:
add the new one behind in every process; then put it first in every process; run this; then take the
old one out. It may be repeated: what the first key sealed already is left as it is.`,
    )
    .action(sealAgain);
}
