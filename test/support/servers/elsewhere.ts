import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server elsewhere: what it answers is up to the test. */
export async function openServer() {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      open.answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const open = {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (_asked: Asked, _response: ServerResponse): void => undefined,
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
  return open;
}

/** Answers with a value as JSON. */
export const json =
  (value: unknown, status = 200) =>
  (_asked: Asked, response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
