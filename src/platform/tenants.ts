import type { Knex } from 'knex';
import { problem } from '../kernel/problem.js';

export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly plan: 'standard' | 'premium' | 'enterprise';
  /** Requests a minute of an enterprise plan; null on the others. */
  readonly requestLimit: number | null;
  readonly createdAt: Date;
}

const idForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Makes the tenant unless it is there; true when it was made. */
export async function ensureTenant(db: Knex, id: string, name: string = id): Promise<boolean> {
  if (!idForm.test(id)) {
    throw problem.validation(
      `'${id}' is no tenant id: use 1 to 64 letters, digits, '.', '_' or '-', first a letter or digit.`,
    );
  }
  const rows = (await db('tenant')
    .insert({ id, name })
    .onConflict('id')
    .ignore()
    .returning('id')) as unknown[];
  return rows.length > 0;
}

export async function listTenants(db: Knex): Promise<Tenant[]> {
  return db<Tenant>('tenant').orderBy('id');
}

/** Sets the plan that rate limits follow; false when there is no such tenant. */
export async function setTenantPlan(
  db: Knex,
  id: string,
  plan: Tenant['plan'],
  requestLimit: number | null,
): Promise<boolean> {
  return (await db('tenant').where({ id }).update({ plan, requestLimit })) > 0;
}
