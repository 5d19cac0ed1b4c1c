import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths } from 'api-document';
import { keepWritten } from './written-json.ts';

/** The API of this instance: its paths, parameters and answers are those of the document. */
export type Api = Client<paths>;

/** Sends a request as whoever looks. */
export type Send = (request: Request) => Promise<Response>;

/** Numbers of JSON come as the text that was sent, and so does all of what stands under these names. */
const keepDigits = (names: readonly string[]): Middleware => ({
  async onResponse({ response }) {
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    if (!isJson) return undefined;
    const { ok, status, statusText, headers } = response;
    const text = keepWritten(await response.text(), ok ? names : []);
    return new Response(text, { status, statusText, headers });
  },
});

/** The API with the token that `send` adds; members of answers with these names are `Written`. */
export function openClient(send: Send, written: readonly string[] = []): Api {
  const client = createClient<paths>({ baseUrl: '', fetch: send });
  client.use(keepDigits(written));
  return client;
}
