import { checkAnswer } from '../http/answers.js';
import type { TestInstance, TestTenant } from '../servers/instance.js';

/** What an export has answered: its bytes, or as much as came before the connection was cut. */
export interface Exported {
  readonly status: number;
  readonly type: string;
  readonly bytes: Buffer;
  readonly text: string;
  /** Whether the answer ended as HTTP has it. */
  readonly isWhole: boolean;
}

/** Asks for an export, such as `invoices?format=csv`, and reads all that comes. */
export async function readExport(
  instance: TestInstance,
  { token }: Pick<TestTenant, 'token'>,
  address: string,
): Promise<Exported> {
  const path = `/v1/exports/${address}`;
  const response = await fetch(`${instance.url}${path}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  const chunks: Uint8Array[] = [];
  let isWhole = true;
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
    }
  } catch {
    isWhole = false;
  }
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString('utf8');
  if (isWhole) checkAnswer('GET', path, { status, type, text });
  return { status, type, bytes, text, isWhole };
}
