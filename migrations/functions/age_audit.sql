-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261206100000-create-retention.js

CREATE OR REPLACE FUNCTION public.age_audit(of_tenant text, entries_max integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    declare
      kept_days integer;
      newest bigint;
      begins_at bigint;
      begins_with bytea;
      cut record;
    begin
      if current_setting('app.tenant_id', true) is distinct from of_tenant then
        raise insufficient_privilege using message = 'a session ages the audit of its own tenant';
      end if;
      -- As retention-rule.ts takes it, together with legal holds.
      perform pg_advisory_xact_lock(hashtextextended('retention/' || of_tenant, 0));
      if exists (select from legal_hold where tenant_id = of_tenant) then return 0; end if;
      select rule.days into kept_days from retention_rule as rule
        where rule.kind = 'audit' and rule.tenant_id in (of_tenant, '*')
        order by rule.tenant_id = '*' limit 1;
      if kept_days is null then return 0; end if;
      select known.position, known.hash into begins_at, begins_with from audit_cut as known
        where known.tenant_id = of_tenant;
      if not found then
        begins_at := 0;
        begins_with := sha256(convert_to(of_tenant, 'UTF8'));
      end if;
      -- The newest seal stays: the chain goes on from it.
      select max(position) into newest from audit_seal where tenant_id = of_tenant;
      -- The longest prefix that is old and fits: what does not fit stays, to be seen.
      with first as (
        select seal.position, seal.hash,
          coalesce(entry.at < date_trunc('day', now(), 'UTC') - kept_days * interval '1 day'
            and seal.position = begins_at + row_number() over in_order
            and seal.previous_hash = lag(seal.hash, 1, begins_with) over in_order
            and audit_fits(seal.hash, seal.previous_hash, seal.position, entry), false) as may_go
        from audit_seal as seal left join audit as entry
          on entry.tenant_id = seal.tenant_id and entry.id = seal.audit_id
        where seal.tenant_id = of_tenant and seal.position < newest
        window in_order as (order by seal.position)
        order by seal.position limit entries_max
      ), prefix as (
        select position, hash, bool_and(may_go) over (order by position) as goes from first
      )
      select position, hash into cut from prefix where goes order by position desc limit 1;
      if not found then return 0; end if;
      insert into audit_cut (tenant_id, position, hash) values (of_tenant, cut.position, cut.hash)
        on conflict (tenant_id) do update set position = excluded.position, hash = excluded.hash,
          cut_at = now();
      insert into audit (tenant_id, actor, entity, action, after)
        values (of_tenant, 'retention', 'audit', 'delete', jsonb_build_object(
          'upToPosition', cut.position, 'hash', encode(cut.hash, 'hex'), 'days', kept_days));
      perform set_config('app.ageing', 'on', true);
      delete from audit using audit_seal as seal
        where audit.tenant_id = of_tenant and seal.tenant_id = of_tenant
          and seal.audit_id = audit.id and seal.position <= cut.position;
      delete from audit_seal where tenant_id = of_tenant and position <= cut.position;
      perform set_config('app.ageing', '', true);
      return cut.position - begins_at;
    end $function$;
