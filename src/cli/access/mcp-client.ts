import { Option, type Command } from 'commander';

/** As `access/oauth/mcp-clients.ts` has them, which is imported only when a command runs. */
const authTypes = ['none', 'headers', 'oauth', 'per_user_oauth'] as const;

interface AddOptions {
  readonly name: string;
  readonly authType: (typeof authTypes)[number];
}

async function addClient({ name, authType }: AddOptions): Promise<void> {
  if (name.trim() === '') throw new Error('The name must not be blank.');
  const { withInstance } = await import('../start/instance.js');
  const { addMcpClient } = await import('../../access/oauth/mcp-clients.js');
  const url = await withInstance(async ({ config, database }) => {
    await addMcpClient(database.platform, { name, authType });
    return config.publicUrl;
  });
  process.stdout.write(`added ${name} (${authType})\n`);
  if (authType === 'per_user_oauth') {
    process.stderr.write(`MCP clients may register themselves now and use ${url}/mcp\n`);
  }
}

async function listClients(): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { listMcpClients } = await import('../../access/oauth/mcp-clients.js');
  const clients = await withInstance(({ database }) => listMcpClients(database.platform));
  for (const { name, authType, createdAt } of clients) {
    process.stdout.write(`${name}\t${authType}\t${createdAt.toISOString()}\n`);
  }
}

async function removeClient(name: string): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { removeMcpClient } = await import('../../access/oauth/mcp-clients.js');
  const isRemoved = await withInstance(({ database }) => removeMcpClient(database.platform, name));
  if (!isRemoved) throw new Error(`There is no MCP client '${name}'.`);
  process.stdout.write(`removed ${name}\n`);
}

/** `durabill mcp-client add|list|remove` (spec/platform.md R52). */
export function registerMcpClient(program: Command): void {
  const group = program
    .command('mcp-client')
    .description('Add, list and remove MCP clients; one of per_user_oauth opens registration.');
  group
    .command('add')
    .description('Add an MCP client.')
    .requiredOption('--name <name>', 'its name, of which there is one')
    .addOption(
      new Option('--auth-type <type>', 'how it signs in')
        .choices([...authTypes])
        .makeOptionMandatory(),
    )
    .action(addClient);
  group.command('list').description('List them: name, type, since when.').action(listClients);
  group
    .command('remove')
    .description('Remove an MCP client; clients that registered keep working.')
    .argument('<name>', 'its name, as list shows it')
    .action(removeClient);
}
