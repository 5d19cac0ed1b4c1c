/**
 * `enter_tenant` begins each transaction of a running process, also the implicit one of a single
 * statement: whose rows it may see, whom the audit names, and its time limits. All of it ends with
 * the transaction, so that no session keeps anything for the next one (docs/decisions/0328).
 *
 * A role is given where the login may bypass row-level security. A limit is a number of
 * milliseconds; null leaves it as the session has it, because older servers do not know all of them.
 */
export async function up(knex) {
  await knex.raw(`
    create function enter_tenant(
      tenant text, actor text, request text, caller_request text, app_role text,
      statement_ms text, lock_ms text, idle_ms text, transaction_ms text
    ) returns void language plpgsql as $$
    declare
      -- An assignment costs half of a query by 'perform', and this runs with every statement.
      entered text := set_config('app.tenant_id', tenant, true)
        || set_config('app.actor', actor, true)
        || set_config('app.request_id', request, true)
        || set_config('app.caller_request_id', caller_request, true)
        || set_config('statement_timeout', statement_ms, true)
        || set_config('lock_timeout', lock_ms, true)
        || set_config('idle_in_transaction_session_timeout', idle_ms, true);
    begin
      if transaction_ms is not null then
        entered := set_config('transaction_timeout', transaction_ms, true);
      end if;
      if app_role is not null then entered := set_config('role', app_role, true); end if;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(
    'drop function enter_tenant(text, text, text, text, text, text, text, text, text)',
  );
}
