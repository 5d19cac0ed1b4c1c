import { queryOptions } from '@tanstack/react-query';
import { api, asJson, type Schemas } from '../api/client.ts';
import { exactLines, parseExact, writeExact, type ExactJson } from '../api/exact-json.ts';
import { read } from '../api/problem.ts';

export type Event = Schemas['UsageEvent'];

export const usageEvent = (id: string) =>
  queryOptions({
    queryKey: ['usage event', id],
    queryFn: ({ signal }) =>
      read(api.GET('/v1/usage-events/{id}', { params: { path: { id } }, signal })),
  });

/** What an event says, in lines of JSON whose numbers are as they were sent. */
export const messageLines = (id: string) =>
  queryOptions({
    queryKey: ['message of an event', id],
    queryFn: async ({ signal }) => {
      const path = '/v1/usage-events/{id}';
      const text = await read(
        asJson.GET(path, { params: { path: { id } }, parseAs: 'text', signal }),
      );
      const event = parseExact(text);
      const isFound = typeof event === 'object' && event !== null && 'message' in event;
      return isFound ? exactLines(event.message ?? null) : '';
    },
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
const header = () => ({ 'Idempotency-Key': crypto.randomUUID() });

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
