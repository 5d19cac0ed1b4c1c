import type { RequestListener } from 'node:http';
import { problem } from '../../kernel/problem.js';
import type { Platform } from '../../process/platform.js';
import { answerUnread } from './unread-body.js';
import { stringifyJson } from './unstorable-text.js';
import { requestIdOf } from '../mount-operations.js';
import { familyOfPath, presentProblem, retryAfterSeconds } from '../presenters/problem.js';
import { securityHeaders } from '../guards/security-headers.js';

// Created once, since creating an error captures its stack.
const failure = problem.overloaded('More requests arrive than can be answered; send it again.');

/**
 * Refusals are delayed by their `Retry-After`: clients that retry at once would be refused
 * thousands of times a second.
 */
const heldMs = 1_000;
/** Maximum delayed refusals; each keeps a connection and the first part of a body. */
const heldMax = 2_000;

/**
 * Answers 503, and counts it, without the application: refusing must cost a fraction of serving,
 * else an overload leaves no time for admitted requests (docs/decisions/0151).
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
        // Only the caller would get an error, and its connection may have ended meanwhile.
        response.destroy();
      }
    }, heldMs);
  };
}
