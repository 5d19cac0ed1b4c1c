import { Argument, type Command } from 'commander';
import type { Tenant } from '../platform/tenants.js';
import { parseCount } from './options.js';

const plans: readonly Tenant['plan'][] = ['standard', 'premium', 'enterprise'];

async function createTenant(id: string, { name }: { name?: string }): Promise<void> {
  const { withInstance } = await import('./instance.js');
  const { ensureTenant } = await import('../platform/tenants.js');
  const isNew = await withInstance(({ database }) => ensureTenant(database.platform, id, name));
  if (!isNew) throw new Error(`There is a tenant '${id}' already.`);
  process.stdout.write(`created ${id}\n`);
}

async function printTenants(): Promise<void> {
  const { withInstance } = await import('./instance.js');
  const { listTenants } = await import('../platform/tenants.js');
  for (const tenant of await withInstance(({ database }) => listTenants(database.platform))) {
    const limit = tenant.requestLimit === null ? '' : `\t${tenant.requestLimit} requests a minute`;
    process.stdout.write(`${tenant.id}\t${tenant.name}\t${tenant.plan}${limit}\n`);
  }
}

async function changePlan(
  id: string,
  plan: Tenant['plan'],
  { limit }: { limit?: number },
): Promise<void> {
  if ((plan === 'enterprise') !== (limit !== undefined)) {
    throw new Error('--limit belongs to the plan enterprise, and only to it.');
  }
  const { withInstance } = await import('./instance.js');
  const { setTenantPlan } = await import('../platform/tenants.js');
  const isKnown = await withInstance(({ database }) =>
    setTenantPlan(database.platform, id, plan, limit ?? null),
  );
  if (!isKnown) throw new Error(`There is no tenant '${id}'.`);
  process.stdout.write(`${id} has the plan ${plan}\n`);
}

/** `durabill tenant create|list|plan` (0-decisions.md section 5). */
export function registerTenant(program: Command): void {
  const group = program.command('tenant').description('Make and list tenants, set their plan.');
  group
    .command('create')
    .description('Make a tenant.')
    .argument('<id>', "letters, digits, '.', '_' and '-'")
    .option('--name <text>', 'its name for people')
    .action(createTenant);
  group.command('list').description('List the tenants: id, name, plan.').action(printTenants);
  group
    .command('plan')
    .description('Set the plan that rate limits follow.')
    .argument('<id>', 'tenant')
    .addArgument(new Argument('<plan>', 'plan').choices([...plans]))
    .option('--limit <count>', 'requests a minute of the plan enterprise', parseCount)
    .action(changePlan);
}
