import type { TestTenant } from '../servers/instance.js';

let count = 0;

/** A record type of a name of its own, and the path of its records. */
export async function makeRecordType(
  tenant: TestTenant,
  fields?: readonly object[],
): Promise<{ id: string; name: string; path: string }> {
  count += 1;
  const name = `type ${count}`;
  const { body } = await tenant
    .post('/v1/mobjects', { name, ...(fields ? { fields } : {}) })
    .expect(201);
  const id = body.id as string;
  return { id, name, path: `/v1/mobjects/${id}/mdata` };
}
