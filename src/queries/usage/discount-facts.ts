/**
 * The discounts of an account, its contracts and their lines, as JSON; null where there are none. What a
 * line has counts for those that replace it.
 */
export const discountsOf = (accountId: string, tenantId: string): string => `(
    select json_agg(json_build_object(
      'id', found.id, 'kind', found.kind, 'value', trim_scale(found.value)::text,
      'currency', found.currency, 'scope', found.scope, 'scopeId', found.scope_id,
      'serviceId', found.service_id, 'from', found.from_date, 'to', found.to_date
    ) order by found.id)
    from (
      select adjustment.*, 'account' as scope, adjustment.account_id as scope_id from adjustment
      where adjustment.tenant_id = ${tenantId} and adjustment.account_id = ${accountId}
      union all
      select adjustment.*, 'contract', adjustment.contract_id
      from contract as own join adjustment
        on adjustment.tenant_id = own.tenant_id and adjustment.contract_id = own.id
      where own.tenant_id = ${tenantId} and own.master_account_id = ${accountId}
      union all
      select adjustment.*, 'line', coalesce(sold.lineage_id, sold.id)
      from contract as own join contract_service as sold
        on sold.tenant_id = own.tenant_id and sold.contract_id = own.id
      join adjustment
        on adjustment.tenant_id = sold.tenant_id and adjustment.contract_service_id = sold.id
      where own.tenant_id = ${tenantId} and own.master_account_id = ${accountId}
    ) as found
    where found.deleted_at is null and found.kind in ('discountPercent', 'discountAmount')
  )`;
