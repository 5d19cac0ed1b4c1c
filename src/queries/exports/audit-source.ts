import { auditColumns } from '../../schemas/exports/audit-columns.js';
import { auditStateSql, camelCaseSql } from '../../models/access/audit-entry.js';
import { storedWeight } from '../lists/page-bytes.js';
import { exportSource } from './export-source.js';

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
    entity: camelCaseSql('t.entity'),
    entityId: 't.entity_id',
    entityKey: 't.entity_key',
    action: 't.action',
    before: auditStateSql('t.before'),
    after: auditStateSql('t.after'),
  },
});
