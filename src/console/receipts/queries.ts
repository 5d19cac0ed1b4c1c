import { queryOptions } from '@tanstack/react-query';
import { api, keeping, type Schemas } from '../api/client.ts';
import { newKey } from '../api/new-key.ts';
import { parseExact, writeExact, type ExactJson } from '../api/exact-json.ts';
import { read } from '../api/problem.ts';
import { linesOf, type Keeping } from '../api/written-json.ts';

const askEvent = keeping('message');
export type Event = Keeping<Schemas['UsageEvent'], 'message'>;

export const usageEvent = (id: string) =>
  queryOptions({
    queryKey: ['usage event', id],
    queryFn: ({ signal }) =>
      askEvent((from) =>
        from.GET('/v1/usage-events/{id}', {
          params: { path: { id }, query: { invoices: true } },
          signal,
        }),
      ),
  });

/** What an event says, in lines of JSON whose numbers are as they were sent. */
export const messageLines = (id: string) =>
  queryOptions({
    ...usageEvent(id),
    select: ({ message }: Event) => (message ? linesOf(message) : ''),
  });

/** The JSON object that a text has; undefined: it has none. */
export function messageIn(text: string): ExactJson | undefined {
  try {
    const value = parseExact(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A key for each press: the same again would be another correction. */
const header = () => ({ 'Idempotency-Key': newKey() });

/** Takes an event back; a dry run only says what that would come to. */
export const cancel = (id: string, reason: string, dryRun: boolean) =>
  read(
    api.POST('/v1/usage-events/{id}/cancel', {
      params: { path: { id }, header: header() },
      body: { reason, dryRun },
    }),
  );

/** Gives an event other content, likewise; its numbers go as they are written. */
export const amend = (id: string, reason: string, message: ExactJson, dryRun: boolean) =>
  read(
    api.POST('/v1/usage-events/{id}/amend', {
      params: { path: { id }, header: header() },
      body: { reason, message: message as Schemas['AmendBody']['message'], dryRun },
      bodySerializer: writeExact,
    }),
  );
