import { hasRunningRoom } from '../../models/workflows/executions-at-once.js';
import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import { jsonWithDoubles, parseStoredJson } from '../../kernel/text/json.js';
import type { Scope } from '../../kernel/scope.js';
import type { Definition } from '../../messages/definitions/definition.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import { ConditionFault } from '../../models/workflows/condition-fault.js';
import {
  WorkflowDefinition,
  WorkflowSecret,
  WorkflowVersion,
} from '../../models/workflows/definition.js';
import { builtInNames } from '../../schemas/flows/flow-id.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { listPage } from '../lists/listing.js';
import { fillPage, type Place } from '../lists/page-bytes.js';

/** A workflow of a tenant with the version that executions begin with. */
export interface DefinedWorkflow {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly hash: string;
  /** As it is executed. */
  readonly definition: Definition;
  /** As it was published, with every digit of its numbers. */
  readonly published: Definition;
  readonly publishedBy: string;
  readonly roles: readonly string[];
}

const publishedIn = ({ definition }: WorkflowVersion): Definition =>
  parseStoredJson(definition) as Definition;

/** The definition of a version as it is executed, checked and drawn. */
export const definitionIn = (version: WorkflowVersion): Definition =>
  jsonWithDoubles(publishedIn(version)) as Definition;

function definedOf({ id, name }: WorkflowDefinition, of: WorkflowVersion): DefinedWorkflow {
  const { version, hash, publishedBy, roles } = of;
  const published = publishedIn(of);
  const definition = jsonWithDoubles(published) as Definition;
  return { id, name, version, hash, definition, published, publishedBy, roles };
}

export const missingWorkflow = (key: string) =>
  problem.notFound(
    builtInNames.has(key)
      ? `'${key}' is built in: only workflows of your own have that.`
      : `There is no workflow '${key.slice(0, 200)}'.`,
  );

const keyed = (key: string) => (isUuid(key) ? { id: key.toLowerCase() } : { name: key });

/**
 * The workflow of an id or name whose executions are read: one that was deleted has them as before, by
 * its name until another one has that.
 */
export async function findExecutedDefinition(
  { db, tenantId }: Scope,
  key: string,
): Promise<Pick<WorkflowDefinition, 'id' | 'name'> | undefined> {
  return (
    WorkflowDefinition.query(db.read)
      .forTenant(tenantId)
      .select('id', 'name')
      .where(keyed(key))
      // What was not deleted comes first.
      .orderBy('deletedAt', 'desc')
      .first()
  );
}

/**
 * The workflow of a tenant with this id or name, in its live or another version; undefined: there is
 * none. 404: it has no such version.
 */
export async function findDefinition(
  scope: Scope,
  key: string,
  version?: number,
): Promise<DefinedWorkflow | undefined> {
  const { db, tenantId } = scope;
  const row = await WorkflowDefinition.query(db.read)
    .forTenant(tenantId)
    .existing()
    .findOne(keyed(key));
  if (!row) return undefined;
  const found = await readVersion(scope, row.id, version ?? row.version);
  if (!found) throw problem.notFound(`'${row.name}' has no version ${version}.`);
  return definedOf(row, found);
}

/** A version of it, as executions keep to it. */
export async function readVersion(
  { db, tenantId }: Scope,
  definitionId: string,
  version: number,
): Promise<WorkflowVersion | undefined> {
  return WorkflowVersion.query(db.read).forTenant(tenantId).findOne({ definitionId, version });
}

/** All versions of a workflow, the newest first. */
export const listVersions = (
  { db, tenantId }: Scope,
  definitionId: string,
): Promise<WorkflowVersion[]> =>
  WorkflowVersion.query(db.read)
    .forTenant(tenantId)
    .select('version', 'hash', 'publishedBy', 'createdAt')
    .where({ definitionId })
    .orderBy('version', 'desc')
    .limit(100)
    .execute();

/** The last event for which a condition of a workflow could not be evaluated; undefined: there was none. */
export const findConditionFault = async (
  { db, tenantId }: Scope,
  definitionId: string,
): Promise<ConditionFault | undefined> =>
  ConditionFault.query(db.read).forTenant(tenantId).findOne({ definitionId });

/** What a list shows of a workflow: none of what it does. */
export interface ListedWorkflow extends Pick<DefinedWorkflow, 'id' | 'name' | 'version' | 'hash'> {
  readonly title: string | null;
  readonly summary: string | null;
  /** The JSON Schema of its input, JSON text; null: it says nothing of it. */
  readonly schema: string | null;
}

const liveSql = `from workflow_definition as workflow
  join workflow_version as live on live.tenant_id = workflow.tenant_id
    and live.definition_id = workflow.id and live.version = workflow.version
  where workflow.tenant_id = :tenantId and workflow.deleted_at is null`;

/** PostgreSQL takes what is shown out of definitions, which may have 256 KiB each (docs/decisions/0544). */
const shownSql = `
  select listed.id, listed.name, listed.version, listed.hash, document ->> 'title' as "title",
    document ->> 'summary' as "summary",
    case when json_typeof(schema) = 'object' then schema::text end as "schema"
  from (select workflow.id, workflow.name, live.version, live.hash, live.definition ${liveSql}
      and workflow.id = any(:ids::uuid[])) as listed
    cross join json_to_record(listed.definition::json) as whole (document json, input json)
    cross join lateral (select whole.input #> '{schema,document}' as schema) as input
  order by listed.name`;

/** Some of the workflows of a tenant by name, and how many there are. */
export async function listDefinitions(
  { db, tenantId }: Scope,
  { limit, offset }: PageRequest,
): Promise<Listed<ListedWorkflow>> {
  const all = WorkflowDefinition.query(db.read).forTenant(tenantId).existing();
  const total = await all.resultSize();
  if (limit === 0) return { items: [], total };
  const places = await sqlRows<Place>(
    db.read,
    `select workflow.id, octet_length(live.definition) as "weight" ${liveSql}
     order by workflow.name limit :limit offset :offset`,
    { tenantId, limit, offset },
  );
  const { rows, isCut } = await fillPage(
    places,
    (portion) => {
      const ids = portion.map(({ id }) => id);
      return sqlRows<ListedWorkflow>(db.read, shownSql, { tenantId, ids });
    },
    ({ schema, summary }) => (schema ?? '').length + (summary ?? '').length,
  );
  return { items: rows, total, isCut };
}

const presentSecret = ({ name, createdAt, updatedAt }: WorkflowSecret) => ({
  name,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

/** One page of the names of secrets. */
export function listSecrets({ db, tenantId }: Scope, page: PageRequest) {
  const query = WorkflowSecret.query(db.read).forTenant(tenantId).orderBy('name');
  return listPage(query, page, presentSecret);
}

/** A secret without its value. */
export async function getSecret({ db, tenantId }: Scope, name: string) {
  const secret = await WorkflowSecret.query(db.read).forTenant(tenantId).findOne({ name });
  if (!secret) throw problem.notFound(`There is no secret '${name.slice(0, 100)}'.`);
  return presentSecret(secret);
}

/** Whether the tenant may have another execution of its own workflows (spec/beyond.md R357). */
export const mayRunMore = ({ db, tenantId }: Scope): Promise<boolean> =>
  hasRunningRoom(db.read, tenantId);
