import { Argument, InvalidArgumentError, type Command } from 'commander';
import countries from 'i18n-iso-countries/index.js';
import type { Seller, Tenant } from '../../access/tenants.js';
import { parseCount } from '../options.js';
import { registerErasure } from '../ageing/erasure.js';
import { registerHold } from '../ageing/legal-hold.js';
import { registerRetention } from '../ageing/retention.js';
import { registerCopy } from '../sandbox/tenant-copy.js';
import { registerMove } from '../cells/tenant-move.js';
import { registerDeletion } from './tenant-deletion.js';
import { registerSuspension } from './tenant-suspension.js';

const plans: readonly Tenant['plan'][] = ['standard', 'premium', 'enterprise'];

async function createTenant(
  id: string,
  { name, cell = 'home', sandbox = false }: { name?: string; cell?: string; sandbox?: boolean },
): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { ensureTenantIn, requireCell } = await import('../../access/cells/tenant-cells.js');
  const { recordCommand } = await import('./security-event.js');
  const { refuseDraining } = await import('../../access/cells/cells.js');
  await withInstance(async ({ database }) => {
    await refuseDraining(database.platform, cell);
    const sandboxAt = sandbox ? new Date() : undefined;
    const tenant = { id, name, sandboxAt };
    const isNew = await ensureTenantIn(database, requireCell(database, cell), tenant, (trx) =>
      recordCommand(trx, {
        tenantId: id,
        entity: 'tenant',
        entityKey: id,
        action: 'create',
        details: {
          name,
          ...(cell === 'home' ? {} : { cell }),
          ...(sandbox ? { sandbox } : {}),
        },
      }),
    );
    if (!isNew) throw new Error(`There is a tenant '${id}' already.`);
  });
  process.stdout.write(`created ${id}\n`);
}

async function printTenants(): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { listTenants } = await import('../../access/tenants.js');
  const { listTenantCells } = await import('../../access/cells/tenant-cells.js');
  const { listTenantClocks } = await import('../../models/sandbox/sandbox-clock.js');
  const { tenants, cells, clocks } = await withInstance(async ({ database }) => {
    // A cell that is away keeps no tenant of another one out of the list.
    const answers = await Promise.allSettled(
      database.cells.map(({ platform }) => listTenantClocks(platform)),
    );
    return {
      tenants: await listTenants(database.platform),
      cells: await listTenantCells(database.platform),
      clocks: new Map(
        answers.flatMap((each) => (each.status === 'fulfilled' ? [...each.value] : [])),
      ),
    };
  });
  for (const tenant of tenants) {
    const cell = cells.get(tenant.id);
    const place = cell === undefined ? '' : `\tcell ${cell}`;
    const limit = tenant.requestLimit === null ? '' : `\t${tenant.requestLimit} requests a minute`;
    const clock = clocks.get(tenant.id);
    const time = clock ? `\tsandbox ${clock.toISOString()}` : '';
    const state = tenant.suspendedAt ? `\tsuspended ${tenant.suspendedAt.toISOString()}` : '';
    process.stdout.write(
      `${tenant.id}\t${tenant.name}\t${tenant.plan}${limit}${state}${place}${time}\n`,
    );
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
  const { withInstance } = await import('../start/instance.js');
  const { requireTenant, setTenantPlan } = await import('../../access/tenants.js');
  const { recordCommand } = await import('./security-event.js');
  await withInstance(({ database }) =>
    database.platform.transaction(async (trx) => {
      await requireTenant(trx, id);
      await setTenantPlan(trx, id, plan, limit ?? null);
      await recordCommand(trx, {
        tenantId: id,
        entity: 'tenant',
        entityKey: id,
        action: 'update',
        details: { plan, limit: limit ?? null },
      });
    }),
  );
  process.stdout.write(`${id} has the plan ${plan}\n`);
}

/** `durabill tenant seller`: sets who a tenant is on its invoices, and shows it. */
async function changeSeller(tenantId: string, options: Partial<Seller>): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { getSeller, requireTenant, setSeller } = await import('../../access/tenants.js');
  const { recordCommand } = await import('./security-event.js');
  const seller = await withInstance(async ({ database }) => {
    // It is read with the tenant's invoices, and is where they are.
    const { platform } = await database.cellOf(tenantId);
    if (Object.keys(options).length > 0) {
      await platform.transaction(async (trx) => {
        await setSeller(trx, tenantId, options);
        await recordCommand(trx, {
          tenantId,
          entity: 'seller',
          entityKey: tenantId,
          action: 'update',
          details: { ...options },
        });
      });
    }
    await requireTenant(platform, tenantId);
    return getSeller(platform, tenantId);
  });
  if (!seller) throw new Error(`The tenant '${tenantId}' has no seller yet: set one with --name.`);
  for (const [name, value] of Object.entries(seller)) {
    if (value !== null) process.stdout.write(`${name}\t${String(value)}\n`);
  }
}

function registerSeller(group: Command): void {
  group
    .command('seller')
    .description('Set who a tenant is on its invoices; without options, show it.')
    .argument('<id>', 'tenant')
    .option('--name <text>', 'name of the company')
    .option('--street <text>', 'first line of the address')
    .option('--street2 <text>', 'second line of the address')
    .option('--zip-code <text>', 'postal code')
    .option('--city <text>', 'city')
    .option('--country <code>', 'country by its alpha-2 code, such as DE', parseCountry)
    .option('--vat-id <id>', 'VAT identifier with its country, such as DE123456789')
    .option('--registration <text>', 'number in a commercial register')
    .option('--payment-text <text>', 'what invoices say about how to pay')
    .option('--iban <iban>', 'the account that invoices are paid to')
    .option('--bic <bic>', 'the bank of that account')
    .option('--usage-appendix <on|off>', 'list the usage of each day on invoices', parseSwitch)
    .addHelpText(
      'after',
      `
With country and VAT identifier, the PDFs of taxed invoices hold them as EN 16931 XML too. What is
left out stays as it is, what is set to '' is taken away.`,
    )
    .action(changeSeller);
}

function parseSwitch(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new InvalidArgumentError('Use on or off.');
}

function parseCountry(text: string): string {
  if (text === '') return text;
  if (countries.isValid(text.toUpperCase()) && text.length === 2) return text.toUpperCase();
  throw new InvalidArgumentError('Use an alpha-2 code such as DE.');
}

/** `durabill tenant create|copy|list|plan|seller|suspend|resume|retention|hold|erase|delete|move`. */
export function registerTenant(program: Command): void {
  const group = program
    .command('tenant')
    .description(
      'Make, list, suspend, copy, move and delete tenants; their plan, seller and retention.',
    );
  group
    .command('create')
    .description('Make a tenant.')
    .argument('<id>', "letters, digits, '.', '_' and '-'")
    .option('--name <text>', 'its name for people')
    .option('--cell <name>', 'the cell of CELLS that its data are in (default: the home database)')
    .option('--sandbox', 'its time stands still until it is moved (POST /v1/clock)')
    .action(createTenant);
  group
    .command('list')
    .description('List the tenants: id, name, plan, suspension, cell, time of a sandbox.')
    .action(printTenants);
  group
    .command('plan')
    .description('Set the plan that rate limits follow.')
    .argument('<id>', 'tenant')
    .addArgument(new Argument('<plan>', 'plan').choices([...plans]))
    .option('--limit <count>', 'requests a minute of the plan enterprise', parseCount)
    .action(changePlan);
  registerSeller(group);
  registerSuspension(group);
  registerRetention(group);
  registerHold(group);
  registerErasure(group);
  registerCopy(group);
  registerDeletion(group);
  registerMove(group);
}
