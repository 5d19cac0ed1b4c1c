import type { RequestListener } from 'node:http';
import { problem } from '../../kernel/problem.js';
import type { Platform } from '../../process/platform.js';
import { answerUnread } from './drain.js';
import { stringifyJson } from './json.js';
import { requestIdOf } from '../mount.js';
import { familyOfPath, presentProblem, retryAfterSeconds } from '../presenters/problem.js';
import { securityHeaders } from '../guards/security-headers.js';

// Made once: an error looks through the stack that it comes from.
const failure = problem.overloaded('More requests arrive than can be answered; send it again.');

/**
 * Callers hear of it as late as they are asked to come again: a crowd that sends again at once would
 * be refused thousands of times a second.
 */
const heldMs = 1_000;
/** Refusals that are held back; each keeps a connection and the first part of a body. */
const heldMax = 2_000;

/**
 * Answers 503, and counts it, without the application: refusing has to cost a fraction of what serving
 * does, or a crowd that is refused leaves no time for those that were let in (docs/decisions/0151).
 */
export function refuseRequests({ config, metrics }: Platform): RequestListener {
  const headers = {
    ...securityHeaders(config.publicUrl),
    'Content-Type': 'application/json; charset=utf-8',
    'Retry-After': retryAfterSeconds[failure.kind] ?? '1',
  };
  const counted = { operation: 'unrouted', status: failure.status };
  const answer: RequestListener = (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const body = stringifyJson(presentProblem(familyOfPath(path), failure, path));
    const given = request.headers['x-request-id'];
    response.statusCode = failure.status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader('X-Request-Id', requestIdOf(typeof given === 'string' ? given : undefined));
    response.setHeader('Content-Length', Buffer.byteLength(body));
    answerUnread(request, response, body);
  };
  let held = 0;
  return (request, response) => {
    metrics.httpRequests.inc(counted);
    if (held === heldMax) {
      answer(request, response);
      return;
    }
    held += 1;
    setTimeout(() => {
      held -= 1;
      try {
        answer(request, response);
      } catch {
        // Nobody is told less than the caller, whose connection may have ended meanwhile.
        response.destroy();
      }
    }, heldMs);
  };
}
