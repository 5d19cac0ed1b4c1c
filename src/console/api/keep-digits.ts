import type { Middleware } from 'openapi-fetch';
import { withQuotedNumbers } from './digits.ts';

/** Numbers of JSON come as the text that was sent. */
export const keepDigits: Middleware = {
  async onResponse({ response }) {
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    if (!isJson) return undefined;
    const { status, statusText, headers } = response;
    return new Response(withQuotedNumbers(await response.text()), { status, statusText, headers });
  },
};
