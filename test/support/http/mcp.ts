import { sendRaw, type RawAnswer } from './raw.js';

export interface McpOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly query?: string;
}

/** A JSON-RPC message. */
export const message = (method: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
});

/** The message that calls a tool. */
export const calling = (name: string, given: object) =>
  message('tools/call', { name, arguments: given });

/** Sends a message to `/mcp`; a text is sent as it is, undefined is no body. */
export const sendMcp = (
  url: string,
  token: string | undefined,
  sent: unknown,
  { method = 'POST', headers = {}, query = '' }: McpOptions,
): Promise<RawAnswer> =>
  sendRaw(url, {
    method,
    path: `/mcp${query}`,
    headers: {
      'Content-Type': 'application/json',
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
  });
