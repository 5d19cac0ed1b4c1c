import { request } from 'node:http';
import { checkAnswer, type Answer } from './answers.js';

interface RawRequest {
  readonly method: string;
  /** As it goes over the wire, percent-encoding and all. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface RawAnswer extends Answer {
  readonly headers: NodeJS.Dict<string | string[]>;
}

/**
 * Sends what no well-behaved client would. The answer is checked against the OpenAPI document like
 * those of the other clients.
 */
export function sendRaw(url: string, { method, path, headers = {}, body }: RawRequest) {
  return new Promise<RawAnswer>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      { hostname, port, method, path, headers: { ...length, ...headers }, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const answer = {
            status: incoming.statusCode ?? 0,
            type: incoming.headers['content-type'] ?? '',
            headers: incoming.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          };
          try {
            checkAnswer(method, path, answer);
            resolve(answer);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
      },
    );
    // A server that has answered may close before it has read all of a body.
    outgoing.on('error', (error) => reject(error));
    outgoing.end(body);
  });
}

/** An answer that nobody has parsed. */
export interface UnreadAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a request and keeps what comes back as it is: reading a large answer would take the event loop
 * of this process, which is also that of the server.
 */
export function sendUnread(url: string, { method, path, headers = {}, body }: RawRequest) {
  return new Promise<UnreadAnswer>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      { hostname, port, method, path, headers: { ...length, ...headers }, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
