/**
 * Lists of changes are newest first, of a tenant or of one kind of record in it (0-decisions.md
 * section 6: `GET /v1/audit`); those of one record use `audit_entity`.
 */
export async function up(knex) {
  await knex.raw(`
    create index audit_newest on audit (tenant_id, at, id);
    create index audit_newest_of_entity on audit (tenant_id, entity, at, id);
  `);
}

export async function down(knex) {
  await knex.raw('drop index audit_newest_of_entity, audit_newest');
}
