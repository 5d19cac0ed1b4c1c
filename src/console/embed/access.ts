import { openClient } from '../api/open-client.ts';
import { ApiProblem } from '../api/problem.ts';

/** In memory alone: it is taken out of the address when the page opens. */
let token: string | undefined;

export function giveToken(given: string): void {
  token = given;
}

export const hasToken = (): boolean => token !== undefined;

/** Sends a request with the token of the embed. */
export async function fetchEmbedded(request: Request): Promise<Response> {
  request.headers.set('Authorization', `Bearer ${token ?? ''}`);
  try {
    // Cookies of a console in the same browser are nothing to an embed.
    return await fetch(request, { credentials: 'omit' });
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new ApiProblem('', 0, null);
  }
}

export const api = openClient(fetchEmbedded);
