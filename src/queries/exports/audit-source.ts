import { auditColumns } from '../../schemas/exports/audit-columns.js';
import { storedWeight } from '../lists/page-bytes.js';
import { exportSource } from './export-source.js';

/** Names of tables and columns as the API has them. */
const camelCase = (sql: string): string =>
  `case when strpos(${sql}, '_') = 0 then ${sql} else
     left(${sql}, 1) || substr(replace(initcap(replace(${sql}, '_', ' ')), ' ', ''), 2) end`;

/** A stored row as an object of the API, without whose it is and what tells caches that it changed. */
const state = (column: string): string =>
  `(select jsonb_object_agg(${camelCase('e.key')}, e.value) from jsonb_each(${column}) as e
    where e.key not in ('tenant_id', 'rating_version'))`;

export const audit = exportSource(auditColumns, {
  from: 'audit as t',
  tenant: 't.tenant_id',
  keys: [
    { sql: 't.at', type: 'instant' },
    { sql: 't.id', type: 'integer' },
  ],
  // The account itself, and what names it.
  account: {
    sql: `coalesce(
      case when t.entity = 'account' then t.entity_id::text end,
      coalesce(t.after, t.before) ->> 'account_id') = ?`,
    isIndexed: false,
  },
  weight: storedWeight('t.before', 't.after'),
  columns: {
    id: 't.id',
    at: 't.at',
    actor: 't.actor',
    requestId: 't.request_id',
    callerRequestId: 't.caller_request_id',
    entity: camelCase('t.entity'),
    entityId: 't.entity_id',
    entityKey: 't.entity_key',
    action: 't.action',
    before: state('t.before'),
    after: state('t.after'),
  },
});
