import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';

interface EraseOptions {
  readonly account: string;
  readonly confirm?: string;
}

interface Execution {
  readonly executionId: string;
  readonly status: string;
  readonly output: { readonly erased: Readonly<Record<string, number>> } | null;
  readonly error: { readonly message: string } | null;
}

const pollMs = 500;

async function erase(tenant: string, { account, confirm }: EraseOptions): Promise<void> {
  if (confirm !== account) {
    throw new Error(
      `This erases the person of account '${account}' for good; charges, payments and invoices stay. ` +
        `Say so: durabill tenant erase ${tenant} --account ${account} --confirm ${account}`,
    );
  }
  const { instanceAddresses, withInstance } = await import('../start/instance.js');
  const { issueForCommand } = await import('../access/named-tenant.js');
  const { apiUrl } = await instanceAddresses();
  const given = { orgId: null, roles: ['ADMIN'], expiresInSeconds: 86_400 };
  const token = await withInstance((access) => issueForCommand(access, tenant, given));
  const call = async (path: string, body?: object): Promise<Execution> => {
    const answer = await fetch(`${apiUrl}/v1/workflows/erase-person${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    const content = (await answer.json()) as Execution & { error?: { message: string } };
    if (!answer.ok) throw new Error(content.error?.message ?? `The API answers ${answer.status}.`);
    return content;
  };
  const { executionId } = await call('/execute', { data: { accountId: account }, async: true });
  let ended = await call(`/executions/${executionId}`);
  while (ended.status === 'running') {
    await wait(pollMs);
    ended = await call(`/executions/${executionId}`);
  }
  if (ended.status !== 'completed') {
    throw new Error(ended.error?.message ?? `The erasure is ${ended.status}.`);
  }
  for (const [name, rows] of Object.entries(ended.output?.erased ?? {})) {
    process.stdout.write(`${name}\t${rows}\n`);
  }
}

/** `durabill tenant erase` (docs/decisions/0353). */
export function registerErasure(group: Command): void {
  group
    .command('erase')
    .description('Erase the person of an inactive account, and keep the books.')
    .argument('<id>', 'tenant')
    .requiredOption('--account <ref>', 'the account, by its external id, number or id')
    .option('--confirm <ref>', 'the account once more: nothing brings the person back')
    .action(erase);
}
