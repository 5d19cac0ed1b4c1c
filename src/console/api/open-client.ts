import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths } from 'api-document';
import { withQuotedNumbers } from './digits.ts';

/** The API of this instance: its paths, parameters and answers are those of the document. */
export type Api = Client<paths>;

/** Sends a request as whoever looks. */
export type Send = (request: Request) => Promise<Response>;

/** Numbers of JSON come as the text that was sent. */
const keepDigits: Middleware = {
  async onResponse({ response }) {
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    if (!isJson) return undefined;
    const { status, statusText, headers } = response;
    return new Response(withQuotedNumbers(await response.text()), { status, statusText, headers });
  },
};

/** The API with the token that `send` adds. */
export function openClient(send: Send): Api {
  const client = createClient<paths>({ baseUrl: '', fetch: send });
  client.use(keepDigits);
  return client;
}
