/** What a request to a provider may take: its time with the whole answer, and the bytes of that. */
export interface RequestBounds {
  readonly timeoutMs: number;
  readonly bytesMax: number;
  /** Requests at the same time. */
  readonly openMax: number;
}

interface Asked {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams | undefined;
}

async function readAtMost({ body }: Response, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let count = 0;
  for await (const part of body ?? []) {
    count += part.byteLength;
    // Leaving the loop ends the connection: nothing more is read.
    if (count > bytesMax) throw new Error(`The answer is longer than ${bytesMax} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/**
 * A `fetch` that follows no redirect and ends after its time, whatever of the answer has come by then.
 * Throws where the time, the bytes or the requests at once are more than they may be.
 */
export function boundedFetch({ timeoutMs, bytesMax, openMax }: RequestBounds) {
  let open = 0;
  return async (url: string, { method, headers, body }: Asked): Promise<Response> => {
    if (open >= openMax) throw new Error(`${openMax} requests wait for the provider already.`);
    open += 1;
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const asked = { method, headers, body: body ?? null, redirect: 'manual', signal } as const;
      const response = await fetch(url, asked);
      const text = await readAtMost(response, bytesMax);
      const { status, headers: given } = response;
      return new Response(text === '' ? null : text, { status, headers: given });
    } finally {
      open -= 1;
    }
  };
}
