import autocannon from 'autocannon';

/** What is asked for, and by how many at once. */
export interface Target {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly method?: 'GET' | 'POST';
  /** Makes the body of the next request. */
  readonly body?: () => string;
}

function cannonOptions({ url, token, connections, method = 'GET', body }: Target) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return {
    url,
    connections,
    method,
    headers,
    ...(body === undefined
      ? {}
      : {
          requests: [
            { setupRequest: (request: autocannon.Request) => ({ ...request, body: body() }) },
          ],
        }),
  };
}

function requireSuccess(url: string, result: autocannon.Result): void {
  const { non2xx, errors, timeouts, statusCodeStats } = result;
  if (non2xx === 0 && errors === 0) return;
  const answers = Object.entries(statusCodeStats ?? {}).map(
    ([code, { count = 0 }]) => `${count} x ${code}`,
  );
  throw new Error(`${url}: ${answers.join(', ')}; ${errors} errors, ${timeouts} of them timeouts`);
}

/** Requests per second that were answered with 2xx; throws when any was not. */
export async function measureLoad(options: Target & { readonly seconds: number }): Promise<number> {
  const result = await autocannon({ ...cannonOptions(options), duration: options.seconds });
  requireSuccess(options.url, result);
  return result['2xx'] / result.duration;
}

/**
 * As many requests, all answered with 2xx, by the time until the last was: where one lasts for
 * seconds, a window of time would leave out those that are under way at its end.
 */
export async function measureCalls(options: Target & { readonly count: number }): Promise<number> {
  const since = performance.now();
  let last = since;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const running = autocannon(
      { ...cannonOptions(options), amount: options.count, timeout: 60 },
      (error: Error | null, ended) => (error ? reject(error) : resolve(ended)),
    );
    running.on('response', () => {
      last = performance.now();
    });
  });
  requireSuccess(options.url, result);
  return options.count / ((last - since) / 1000);
}

/** The middle one; of an even number the mean of the two in the middle, so that neither of two is left out. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low = NaN, high = NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return (low + high) / 2;
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
