import { always, exportRow, perhaps } from './column.js';

export const auditColumns = {
  id: always.integer('Number of the entry.'),
  at: always.instant('When it was changed, in UTC.'),
  actor: perhaps.text('Who: subject of the token, or access key.'),
  requestId: perhaps.text('Our id of the request that changed it, or of its flow.'),
  callerRequestId: perhaps.text('The X-Request-Id that the caller chose; null when it sent none.'),
  entity: always.name('What kind of record was changed, or what a security event is about.'),
  entityId: perhaps.uuid('Id of the record; null where what it is about has no UUID.'),
  entityKey: perhaps.text('What a security event is about, such as the id of a key.'),
  action: always.name('create, update or delete of a record; others are of security events.'),
  before: perhaps.json('The record before the change; null when it was created.'),
  after: perhaps.json('The record after the change; null when it was removed for good.'),
};

export const AuditExport = exportRow(auditColumns, 'One change of one record.');
