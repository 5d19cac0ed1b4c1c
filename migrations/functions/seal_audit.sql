-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261126110100-chain-audit.js
-- migrations/20261207000200-create-tenant-fence.js

CREATE OR REPLACE FUNCTION public.seal_audit(entries_max integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  declare
    mark audit_sealing;
    is_settled boolean;
    entry audit;
    chain text;
    place bigint;
    link bytea;
    own bytea;
    sealed integer := 0;
    last_id bigint;
  begin
    -- One at a time: whoever comes second finds nothing left to do.
    if not pg_try_advisory_xact_lock(hashtext('durabill'), hashtext('audit')) then return 0; end if;
    perform set_config('app.sealing', 'on', true);
    select * into mark from audit_sealing;
    -- A copy of the database in another server counts transactions anew.
    is_settled := mark.seen_before <= pg_snapshot_xmin(pg_current_snapshot())
      or mark.seen_before > pg_snapshot_xmax(pg_current_snapshot());
    for entry in
      select found.* from (
        select * from audit where audit.id > mark.sealed_to and not exists (
          select from audit_seal as known
          where known.tenant_id = audit.tenant_id and known.audit_id = audit.id)
        and not exists (
      select from tenant_fence as fence
      where fence.tenant_id = audit.tenant_id and fence.state = 'arriving')
        order by audit.id limit entries_max
      ) as found order by found.tenant_id, found.id
    loop
      if chain is distinct from entry.tenant_id then
        chain := entry.tenant_id;
        select last.position, last.hash into place, link from audit_seal as last
          where last.tenant_id = chain order by last.position desc limit 1;
        if not found then
          place := 0;
          link := sha256(convert_to(chain, 'UTF8'));
        end if;
      end if;
      place := place + 1;
      own := audit_hash(link, place, entry);
      insert into audit_seal (tenant_id, position, audit_id, previous_hash, hash)
      values (chain, place, entry.id, link, own);
      link := own;
      sealed := sealed + 1;
      last_id := greatest(last_id, entry.id);
    end loop;
    if is_settled and mark.sealed_to < mark.seen_to then
      update audit_sealing set sealed_to = case
        when sealed < entries_max then mark.seen_to else least(mark.seen_to, last_id) end;
    end if;
    -- Looked at anew only when the last look is done with.
    if is_settled and sealed < entries_max then
      update audit_sealing set seen_to = top.id, seen_before = pg_snapshot_xmax(pg_current_snapshot())
      from (select coalesce(max(id), 0) as id from audit) as top where top.id > seen_to;
    end if;
    perform set_config('app.sealing', '', true);
    return sealed;
  end $function$;
