import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { canonicalJson, jsonWithDoubles, stringifyJson } from '../../kernel/text/json.js';
import type { Definition } from '../../messages/definitions/definition.js';
import {
  definitionsMax,
  versionsMax,
  WorkflowDefinition,
  WorkflowSecret,
  WorkflowVersion,
} from '../../models/workflows/definition.js';
import { getSecret, missingWorkflow } from '../../queries/workflows/definition.js';
import {
  builtInFault,
  builtInNames,
  isBuiltIn,
  isOfExecutionsAlone,
} from '../../schemas/flows/flow-id.js';
import type { NewVersionBody } from '../../schemas/workflows/workflow.js';
import { definitionFaultsInTurns } from './check-definition.js';
import { keepSchedule } from './schedule.js';
import { keepTrigger } from './trigger.js';

const nameIn = (definition: unknown): unknown =>
  (definition as Partial<Definition> | null)?.document?.name;

/**
 * The same name where it is built in, and is of a workflow that the tenant had before it was: that one
 * keeps it (docs/decisions/0542).
 */
async function keptNameOf({ db, tenantId }: Scope, name: unknown): Promise<string | undefined> {
  if (!isBuiltIn(name) || !isOfExecutionsAlone(name)) return undefined;
  const own = WorkflowDefinition.query(db.read).forTenant(tenantId).existing();
  return (await own.select('name').findOne({ name }))?.name;
}

/** 409, where only what is built in has this name. */
async function refuseBuiltIn(scope: Scope, key: string, message: string): Promise<void> {
  if (builtInNames.has(key) && (await keptNameOf(scope, key)) === undefined) {
    throw problem.conflict(`'${key}' is built in${message}`);
  }
}

/** What of a definition is wrong, with the secrets that there are now. */
export async function checkDefinition(scope: Scope, definition: unknown) {
  const { db, tenantId } = scope;
  const faults = await definitionFaultsInTurns(definition, {
    secrets: await WorkflowSecret.names(db.read, tenantId),
    keptName: await keptNameOf(scope, nameIn(definition)),
  });
  return { valid: faults.length === 0, faults };
}

/** A definition that is free of faults, as it is stored. 400 with all faults. */
async function readDefinition(scope: Scope, given: unknown) {
  const asked = nameIn(given);
  if (isBuiltIn(asked) && (await keptNameOf(scope, asked)) === undefined) {
    throw problem.conflict(builtInFault(asked), { field: 'definition.document.name' });
  }
  const { valid, faults } = await checkDefinition(scope, given);
  if (!valid) {
    const [first] = faults;
    const more = faults.length > 1 ? ` There are ${faults.length - 1} more; see 'faults'.` : '';
    throw problem.validation(
      `'definition${first?.pointer ?? ''}': ${first?.message ?? ''}${more}`,
      {
        field: 'definition',
        faults,
      },
    );
  }
  const { document, schedule } = jsonWithDoubles(given) as Definition;
  const hash = createHash('sha256').update(canonicalJson(given)).digest('hex');
  return { name: document.name, hash, text: stringifyJson(given), schedule };
}

type Stored = Awaited<ReturnType<typeof readDefinition>>;

const credentialOf = ({ credential }: Scope) => ({
  credentialKind: credential?.kind ?? null,
  credentialId: credential?.id ?? null,
  credentialKid: credential?.kid ?? null,
  grantId: credential?.grantId ?? null,
});

const insertVersion = async (
  trx: Knex.Transaction,
  scope: Scope,
  definitionId: string,
  version: number,
  { text, hash }: Stored,
): Promise<void> => {
  const { tenantId, actor, roles, realNow } = scope;
  await WorkflowVersion.query(trx)
    .forTenant(tenantId)
    .insert({
      definitionId,
      version,
      definition: text,
      hash,
      publishedBy: actor,
      roles: [...roles],
      ...credentialOf(scope),
      createdAt: realNow(),
    });
};

/** Keeps what starts a workflow by itself. */
const keepStarts: typeof keepTrigger = async (trx, scope, of, schedule) => {
  await keepTrigger(trx, scope, of, schedule);
  await keepSchedule(trx, scope, of, schedule);
};

/**
 * Makes a workflow of a tenant (spec/beyond.md R320). 400: its definition has faults, all of which are
 * named. 409: its name is taken, or there are too many.
 */
export async function createDefinition(scope: Scope, given: unknown) {
  const { tenantId, realNow } = scope;
  const stored = await readDefinition(scope, given);
  return scope.db.transaction(async (trx) => {
    const key = `workflows/${tenantId}`;
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [key]);
    const count = await WorkflowDefinition.query(trx).forTenant(tenantId).existing().resultSize();
    if (count >= definitionsMax) {
      throw problem.conflict(`There are ${definitionsMax} workflows, the most that there may be.`);
    }
    const at = realNow();
    const { id } = await WorkflowDefinition.query(trx)
      .forTenant(tenantId)
      .insert({ name: stored.name, version: 1, createdAt: at, updatedAt: at });
    await insertVersion(trx, scope, id, 1, stored);
    await keepStarts(trx, scope, { definitionId: id, version: 1 }, stored.schedule);
    return { id, name: stored.name, version: 1, hash: stored.hash };
  });
}

/** The workflow of an id or name, held until the transaction ends. 404: there is none. */
export async function lockDefinition(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  key: string,
): Promise<WorkflowDefinition> {
  const found = await WorkflowDefinition.query(trx)
    .forTenant(tenantId)
    .existing()
    .findOne(isUuid(key) ? { id: key.toLowerCase() } : { name: key })
    .forUpdate();
  if (!found) throw missingWorkflow(key);
  return found;
}

/**
 * Publishes a new version; the same definition by the same publisher with the same roles is the version
 * that there is, and stands from now on with what they are signed in with. 400: it has faults, or another
 * name. 404: there is no such workflow. 409: another version is live than it is based on.
 */
export async function updateDefinition(
  scope: Scope,
  key: string,
  { definition: given, basedOn }: Static<typeof NewVersionBody>,
) {
  const { tenantId, realNow } = scope;
  await refuseBuiltIn(scope, key, ': it has no versions of your own.');
  const stored = await readDefinition(scope, given);
  return scope.db.transaction(async (trx) => {
    const found = await lockDefinition(trx, scope, key);
    const { id, version: last } = found;
    const current = await WorkflowVersion.query(trx)
      .forTenant(tenantId)
      .findOne({ definitionId: id, version: last })
      .throwIfNotFound();
    const { name, hash } = stored;
    if (name !== found.name) {
      const message = `'definition.document.name' '${name}' is another name than '${found.name}', which the workflow has: it keeps it`;
      throw problem.validation(message, { field: 'definition.document.name', value: name });
    }
    const roles = [...scope.roles].sort().join();
    const isSame = current.hash === hash && [...current.roles].sort().join() === roles;
    if (isSame && current.publishedBy === scope.actor) {
      // A token lasts for a session, and the next one may stand when this one is revoked.
      await current.$query(trx).forTenant(tenantId).patch(credentialOf(scope));
      return { id, name, version: last, hash };
    }
    if (basedOn !== undefined && basedOn !== last) {
      const message = `Version ${last} is live, and this is based on version ${basedOn} ('basedOn'): look at what changed since, before you publish over it`;
      throw problem.conflict(message, { field: 'basedOn', value: basedOn, version: last });
    }
    if (last >= versionsMax) {
      throw problem.conflict(`There are ${versionsMax} versions, the most that there may be.`);
    }
    const version = last + 1;
    await found.$query(trx).forTenant(tenantId).patch({ version, updatedAt: realNow() });
    await insertVersion(trx, scope, id, version, stored);
    await keepStarts(trx, scope, { definitionId: id, version }, stored.schedule);
    return { id, name, version, hash };
  });
}

/**
 * Keeps a workflow from being deleted until the execution that begins in this transaction is recorded:
 * who deletes it finds that running, or it finds that the workflow is gone. 404: it is.
 */
export async function keepDefinition({ db, tenantId }: Scope, id: string): Promise<void> {
  if (!(await WorkflowDefinition.keep(db.read, tenantId, id))) throw missingWorkflow(id);
}

/** Hides a workflow, and gives its id; its name is free again. 404: there is none. 409: it is built in. */
export async function hideDefinition(scope: Scope, key: string): Promise<string> {
  await refuseBuiltIn(scope, key, ', and stays.');
  return scope.db.transaction(async (trx) => {
    const found = await lockDefinition(trx, scope, key);
    await found.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.realNow() });
    await keepStarts(trx, scope, { definitionId: found.id, version: found.version }, undefined);
    return found.id;
  });
}

/** Secrets that a tenant may have. */
const secretsMax = 100;
const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Gives a secret its value. 400: its name is none. 409: there are too many. */
export async function putSecret(
  scope: Scope,
  name: string,
  value: string,
  seal: (secret: string) => string,
) {
  if (!secretName.test(name)) {
    const message = `'name' '${name.slice(0, 100)}' must be letters, digits and _, as expressions have it`;
    throw problem.validation(message, { field: 'name', value: name.slice(0, 100) });
  }
  const { tenantId, realNow } = scope;
  const sealed = seal(value);
  return scope.db.transaction(async (trx) => {
    const key = `secrets/${tenantId}`;
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [key]);
    const at = realNow();
    const secrets = () => WorkflowSecret.query(trx).forTenant(tenantId);
    const changed = await secrets().where({ name }).patch({ sealed, updatedAt: at });
    if (changed === 0) {
      if ((await secrets().resultSize()) >= secretsMax) {
        throw problem.conflict(`There are ${secretsMax} secrets, the most that there may be.`);
      }
      await secrets().insert({ name, sealed, createdAt: at, updatedAt: at });
    }
    return getSecret(within(scope, trx), name);
  });
}

/** Deletes a secret. 404: there is none. */
export async function deleteSecret({ db, tenantId }: Scope, name: string): Promise<void> {
  await db.transaction(async (trx) => {
    const deleted = await WorkflowSecret.query(trx).forTenant(tenantId).where({ name }).delete();
    if (deleted === 0) throw problem.notFound(`There is no secret '${name.slice(0, 100)}'.`);
  });
}
