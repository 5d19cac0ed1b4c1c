import { queryOptions } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import { read } from '../api/problem.ts';
import { live } from '../live/live.ts';

export type Status = Schemas['TenantStatus'];

/** What waits, runs and failed; webhooks that end are not told of, and seen half a minute later. */
export const status = queryOptions({
  queryKey: ['status'],
  ...live('all'),
  queryFn: ({ signal }) => read(api.GET('/v1/status', { signal })),
});
