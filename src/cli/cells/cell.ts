import type { Command } from 'commander';

async function printCells(): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { listCells } = await import('../../access/cells/cells.js');
  const cells = await withInstance(({ database }) => listCells(database));
  for (const { name, tenants, drainingSince, fault } of cells) {
    const draining = drainingSince === null ? '' : `\tdrained since ${drainingSince.toISOString()}`;
    const state = fault === null ? 'answers' : `cannot be used: ${fault}`;
    process.stdout.write(`${name}\t${tenants} tenants\t${state}${draining}\n`);
  }
}

/** Prepares the database of a cell and lets tenants be placed in it. */
async function addCell(name: string): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { requireCell } = await import('../../access/cells/tenant-cells.js');
  const { openCell } = await import('../../access/cells/cells.js');
  const { prepareCells } = await import('../../process/prepare-cells.js');
  const { StartupError } = await import('../../platform/startup-error.js');
  await withInstance(async ({ config, database }) => {
    requireCell(database, name);
    const cells = config.cells.filter((cell) => cell.name === name);
    const [prepared] = await prepareCells(cells, (step) => process.stderr.write(`${step}\n`));
    if (prepared?.absence !== undefined) {
      throw new StartupError(`The cell '${name}' does not answer: ${prepared.absence}.`);
    }
    await openCell(database.platform, name);
  });
  process.stdout.write(`tenants can be placed in ${name}\n`);
}

async function drain(name: string): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { listTenantsIn, requireCell } = await import('../../access/cells/tenant-cells.js');
  const { drainCell } = await import('../../access/cells/cells.js');
  const left = await withInstance(async ({ database }) => {
    requireCell(database, name);
    await drainCell(database.platform, name);
    return listTenantsIn(database.platform, name);
  });
  for (const tenant of left) process.stdout.write(`${tenant}\n`);
  process.stderr.write(`no tenant is placed in ${name} any more; ${left.length} are in it\n`);
}

/** `durabill cell list|add|drain` (docs/decisions/0360). */
export function registerCell(program: Command): void {
  const group = program
    .command('cell')
    .description('The PostgreSQL servers that tenants are in: those that CELLS names.');
  group
    .command('list')
    .description('List them: name, tenants, whether it can be used, since when it is drained.')
    .action(printCells);
  group
    .command('add')
    .description(
      'Prepare the database of a cell that CELLS names, and let tenants be placed in it.',
    )
    .argument('<name>', 'its name in CELLS')
    .action(addCell);
  group
    .command('drain')
    .description('Place no tenants in a cell any more; print those that are in it.')
    .argument('<name>', "its name in CELLS, or 'home'")
    .action(drain);
}
