import type { Command } from 'commander';

async function listKeys(): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { listSigningKeys } = await import('../../access/signing-keys.js');
  const keys = await withInstance(({ database }) => listSigningKeys(database.platform));
  keys.forEach(({ kid, createdAt }, index) => {
    const use = index === 0 ? 'signs' : 'verifies';
    process.stdout.write(`${kid}\t${createdAt.toISOString()}\t${use}\n`);
  });
}

async function rotateKey(): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { rotateSigningKey } = await import('../../access/signing-keys.js');
  const { recordCommand } = await import('./security-event.js');
  const kid = await withInstance(({ database, secrets }) =>
    database.platform.transaction(async (trx) => {
      const made = await rotateSigningKey(trx, secrets);
      await recordCommand(trx, {
        tenantId: null,
        entity: 'signingKey',
        entityKey: made,
        action: 'rotate',
      });
      return made;
    }),
  );
  process.stdout.write(`${kid}\n`);
  process.stderr.write('It signs within a minute; the keys before it go on verifying.\n');
}

async function removeKey(kid: string): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { removeSigningKey } = await import('../../access/signing-keys.js');
  const { recordCommand } = await import('./security-event.js');
  await withInstance(({ database }) =>
    database.platform.transaction(async (trx) => {
      const isRemoved = await removeSigningKey(trx, kid);
      if (!isRemoved) throw new Error(`There is no signing key '${kid}'.`);
      await recordCommand(trx, {
        tenantId: null,
        entity: 'signingKey',
        entityKey: kid,
        action: 'delete',
      });
    }),
  );
  process.stdout.write(`removed ${kid}; its tokens are refused within ten seconds\n`);
}

/** `durabill signing-key list|rotate|remove`: the keys that sign tokens (docs/decisions/0099). */
export function registerSigningKey(program: Command): void {
  const group = program
    .command('signing-key')
    .description('List, rotate and remove the keys that sign tokens.');
  group
    .command('list')
    .description('List them, newest first: id, since when, what for.')
    .action(listKeys);
  group.command('rotate').description('Make a new key that signs from now on.').action(rotateKey);
  group
    .command('remove')
    .description('Remove an old key, with which every token that it signed.')
    .argument('<kid>', 'its id, as list shows it')
    .action(removeKey);
}
