import type { Knex } from 'knex';

/**
 * Tables that running processes only read, or cannot access: the audit is append-only, and keys and
 * tenants are created by the owner's login (the start, the command line).
 */
const readOnly = [
  'access_key',
  'audit',
  'audit_cut',
  'audit_redaction',
  'audit_seal',
  'cell',
  'cell_identity',
  'legal_hold',
  'retention_rule',
  'seller',
  'signing_key',
  'tenant',
  'tenant_cell',
  'tenant_fence',
  'tenant_mark',
  'tenant_move',
];
const closed = ['audit_sealing'];
/** So that a process can see whether migrations are pending. */
const migrations = ['knex_migrations', 'knex_migrations_lock'];

const literals = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

/**
 * The group role of the logins of running processes, with its privileges. Not a migration: roles
 * belong to the server, so a dump does not contain them, and later tables need grants, too. An
 * owner that may not create roles uses a group created by an administrator, or none.
 */
const grantServiceSql = `
  do $$ begin
    if not exists (select 1 from pg_roles where rolname = 'durabill_service') then
      create role durabill_service nologin nosuperuser nocreatedb nocreaterole nobypassrls;
    end if;
  exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then
      raise notice 'no role durabill_service: the login of running processes cannot be restricted';
  end $$;
  do $$ declare
    found record;
  begin
    if not exists (select 1 from pg_roles where rolname = 'durabill_service') then return; end if;
    -- Processes that start at once would grant the same at once.
    perform pg_advisory_xact_lock(hashtext('durabill'), hashtext('grants'));
    if not has_schema_privilege('durabill_service', 'public', 'usage') then
      grant usage on schema public to durabill_service;
    end if;
    -- A partition that takes the place of another while processes run.
    if not exists (
      select 1 from pg_default_acl, aclexplode(defaclacl) as acl
      where defaclrole = current_user::regrole
        and defaclnamespace = 'public'::regnamespace and defaclobjtype = 'r'
        and acl.grantee = 'durabill_service'::regrole
    ) then
      alter default privileges in schema public
        grant select, insert, update, delete on tables to durabill_service;
    end if;
    for found in
      select relname as name, oid::regclass as place from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
    loop
      if found.name in (${literals([...readOnly, ...migrations, ...closed])}) then
        if has_table_privilege('durabill_service', found.place, 'insert, update, delete, truncate')
        then
          execute format('revoke all on %s from durabill_service', found.place);
        end if;
        if found.name not in (${literals(closed)})
          and not has_table_privilege('durabill_service', found.place, 'select')
        then
          execute format('grant select on %s to durabill_service', found.place);
        end if;
      elsif not has_table_privilege('durabill_service', found.place, 'select')
        or not has_table_privilege('durabill_service', found.place, 'delete')
      then
        execute format('grant select, insert, update, delete on %s to durabill_service',
          found.place);
      end if;
    end loop;
    -- Rows are numbered without it; a listener takes a number by itself.
    for found in
      select seqrelid::regclass as place from pg_sequence join pg_class on oid = seqrelid
      where relnamespace = 'public'::regnamespace
        and not has_sequence_privilege('durabill_service', seqrelid, 'usage')
    loop
      execute format('grant usage on sequence %s to durabill_service', found.place);
    end loop;
    -- What is done as the owner is narrow by itself, so that whatever runs may ask for it.
    for found in
      select oid::regprocedure as place from pg_proc
      where pronamespace = 'public'::regnamespace and prosecdef
        and prorettype <> 'trigger'::regtype
        and not has_function_privilege('durabill_service', oid, 'execute')
    loop
      execute format('grant execute on function %s to durabill_service', found.place);
    end loop;
  end $$`;

/** Gives the group of running processes what it needs of the tables as they are now. */
export async function grantService(owner: Knex): Promise<void> {
  await owner.raw(grantServiceSql);
}

/**
 * Creates the login of running processes, or sets its password. It has the privileges of its group
 * only, and cannot switch to another role.
 */
export async function ensureLogin(owner: Knex, name: string, password: string): Promise<void> {
  await owner.transaction(async (trx) => {
    await trx.raw(`select pg_advisory_xact_lock(hashtext('durabill'), hashtext('login'))`);
    const { rows } = await trx.raw<{ rows: { sql: string }[] }>(
      `select format(
         '%s role %I login nosuperuser nocreatedb nocreaterole nobypassrls password %L',
         case when exists (select from pg_roles where rolname = :name) then 'alter' else 'create' end,
         :name::text, :password::text) as sql`,
      { name, password },
    );
    // The password was quoted by PostgreSQL; knex must take no question mark in it for its own.
    await trx.raw((rows[0]?.sql ?? '').replaceAll('?', '\\?'));
    await trx.raw('grant durabill_service to ??', [name]);
  });
}
