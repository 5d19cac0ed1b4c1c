/**
 * Which account a change of the audit or an execution is about, for the timeline of an account
 * (docs/decisions/0382). Of an execution its input says it, which never changes.
 */
const uuidForm = `'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`;

export async function up(knex) {
  await knex.raw(`
    create function account_of_change(entity text, entity_id uuid, before jsonb, after jsonb)
    returns uuid language sql immutable parallel safe as $$
      select case entity
        when 'account' then entity_id
        when 'contract' then (coalesce(after, before) ->> 'master_account_id')::uuid
        when 'address' then (coalesce(after, before) ->> 'account_id')::uuid
        when 'invoice' then (coalesce(after, before) ->> 'account_id')::uuid
        when 'payment' then (coalesce(after, before) ->> 'account_id')::uuid
        when 'wallet' then (coalesce(after, before) ->> 'account_id')::uuid
      end
    $$;

    create function account_of_execution(workflow text, input jsonb)
    returns uuid language sql immutable parallel safe as $$
      select case when id ~ ${uuidForm} then id::uuid end from (
        select coalesce(input ->> 'accountId', start ->> 'ID_Account', start ->> 'account_id',
          start ->> 'master_account_id',
          case when workflow in ('editAccount', 'deleteAccount') then start ->> 'id' end) as id
        from (select input -> 'start' as start) as given
      ) as named
    $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop function account_of_execution(text, jsonb);
    drop function account_of_change(text, uuid, jsonb, jsonb);
  `);
}
