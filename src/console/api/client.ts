import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from 'api-document';
import { fetchSignedIn } from '../session/fetch-signed-in.ts';
import { withQuotedNumbers } from './digits.ts';

/** The types of the API's document by their names. */
export type Schemas = components['schemas'];

const keepDigits: Middleware = {
  async onResponse({ response }) {
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    if (!isJson) return undefined;
    const { status, statusText, headers } = response;
    return new Response(withQuotedNumbers(await response.text()), { status, statusText, headers });
  },
};

/** The API of this instance: its paths, parameters and answers are those of the document. */
export const api = createClient<paths>({ baseUrl: '', fetch: fetchSignedIn });
api.use(keepDigits);

/**
 * The same with JSON as it is, for what a tenant wrote or gave and is shown as JSON: definitions, inputs,
 * outputs. Its numbers are numbers, whatever their types say: no amount is read through it.
 */
export const asJson = createClient<paths>({ baseUrl: '', fetch: fetchSignedIn });
