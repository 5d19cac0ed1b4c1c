-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261206200000-create-erasure.js

CREATE OR REPLACE FUNCTION public.erase_audit(of_tenant text, erasure_id uuid, after_id bigint, entries_max integer, OUT last_id bigint, OUT erased integer)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    declare
      task erasure;
      entry audit;
      ids bigint[] := '{}';
      sealed_ids bigint[] := '{}';
      hashes bytea[] := '{}';
      befores jsonb[] := '{}';
      afters jsonb[] := '{}';
      hash_now bytea;
      record_id bigint;
    begin
      if current_setting('app.tenant_id', true) is distinct from of_tenant then
        raise insufficient_privilege using message = 'a session erases of its own tenant';
      end if;
      perform pg_advisory_xact_lock(hashtextextended('retention/' || of_tenant, 0));
      -- No entry is sealed meanwhile.
      perform pg_advisory_xact_lock(hashtext('durabill'), hashtext('audit'));
      select * into task from erasure
        where tenant_id = of_tenant and id = erasure_id and ended_at is null;
      if not found or exists (select from legal_hold where tenant_id = of_tenant) then
        raise insufficient_privilege using message = 'no erasure is under way';
      end if;
      erased := 0;
      for entry in
        select * from audit where tenant_id = of_tenant and id > after_id
        order by id limit entries_max
      loop
        last_id := entry.id;
        continue when not is_marked(
          coalesce(entry.before::text, '') || coalesce(entry.after::text, ''), task.marks);
        declare
          was audit := entry;
        begin
          entry.before := erased_json(entry.before::json, task.wholes, task.parts)::jsonb;
          entry.after := erased_json(entry.after::json, task.wholes, task.parts)::jsonb;
          continue when entry.before is not distinct from was.before
            and entry.after is not distinct from was.after;
        end;
        erased := erased + 1;
        ids := ids || entry.id;
        befores := befores || entry.before;
        afters := afters || entry.after;
        select audit_hash(seal.previous_hash, seal.position, entry) into hash_now
          from audit_seal as seal where seal.tenant_id = of_tenant and seal.audit_id = entry.id;
        if found then
          sealed_ids := sealed_ids || entry.id;
          hashes := hashes || hash_now;
        end if;
      end loop;
      if erased = 0 then return; end if;
      insert into audit (tenant_id, actor, request_id, entity, entity_id, action, after)
        select of_tenant, current_setting('app.actor', true), current_setting('app.request_id', true),
          'account', task.account_id, 'erase', jsonb_build_object('entries', erased, 'digest',
            encode(sha256(coalesce(string_agg(each.hash, ''::bytea order by each.id), '')), 'hex'))
        from unnest(sealed_ids, hashes) as each (id, hash)
        returning id into record_id;
      insert into audit_redaction (tenant_id, audit_id, recorded_in, hash)
        select of_tenant, each.id, record_id, each.hash
        from unnest(sealed_ids, hashes) as each (id, hash);
      perform set_config('app.erasing', 'on', true);
      update audit set before = each.before, after = each.after
        from unnest(ids, befores, afters) as each (id, before, after)
        where audit.tenant_id = of_tenant and audit.id = each.id;
      perform set_config('app.erasing', '', true);
    end $function$;
