import { ApiProblem } from '../api/problem.ts';
import { reportAway, reportBack } from './connection.ts';
import { currentToken, renewSession } from './session.ts';

const away = (): ApiProblem => new ApiProblem('The server does not answer.', 0, null);

async function send(request: Request, token: string): Promise<Response> {
  request.headers.set('Authorization', `Bearer ${token}`);
  try {
    const response = await fetch(request);
    reportBack();
    return response;
  } catch (error) {
    if (request.signal.aborted) throw error;
    reportAway();
    throw away();
  }
}

/** Sends a request of whoever is signed in; a token that came to its end is renewed once. */
export async function fetchSignedIn(request: Request): Promise<Response> {
  const token = await currentToken();
  if (token === undefined) throw new ApiProblem('Nobody is signed in.', 401, null);
  const again = request.clone();
  const response = await send(request, token);
  if (response.status !== 401) return response;
  await renewSession();
  const renewed = await currentToken();
  return renewed === undefined ? response : send(again, renewed);
}
