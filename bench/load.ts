import autocannon from 'autocannon';

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly seconds: number;
  readonly method?: 'GET' | 'POST';
  /** Makes the body of the next request. */
  readonly body?: () => string;
}

/** Requests per second that were answered with 2xx; throws when any was not. */
export async function measureLoad(options: LoadOptions): Promise<number> {
  const { url, token, connections, seconds, method = 'GET', body } = options;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const result = await autocannon({
    ...{ url, connections, duration: seconds, method, headers },
    ...(body === undefined
      ? {}
      : { requests: [{ setupRequest: (request) => ({ ...request, body: body() }) }] }),
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} answers were not 2xx, ${result.errors} errors`);
  }
  return result['2xx'] / result.duration;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN;
};

/** Measures two things in turn, A B A B …, so that a drifting machine meets both alike. */
export async function inTurn(
  rounds: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<{ a: number; b: number; ratio: number }> {
  const pairs: { a: number; b: number }[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push({ a: await a(), b: await b() });
  return {
    a: median(pairs.map((pair) => pair.a)),
    b: median(pairs.map((pair) => pair.b)),
    ratio: median(pairs.map((pair) => pair.a / pair.b)),
  };
}
