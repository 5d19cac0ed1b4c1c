import type { ApiClient } from '../moving-in/api-client.js';

/** What people call these accounts, by their ids. */
export async function namesOf(
  api: ApiClient,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const names = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      const found = await api.find<{ data: { Name: string | null } }>(
        `/api/v1/external/accounts/${id}`,
      );
      return [id, found?.data.Name ?? id] as const;
    }),
  );
  return new Map(names);
}
