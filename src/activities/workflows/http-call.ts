import { ApplicationFailure } from '@temporalio/common';
import { isObject } from '../../kernel/expression/json-schema-check.js';
import { Problem, problem } from '../../kernel/problem.js';
import { jsonWithDoubles, parseJson } from '../../kernel/text/json.js';
import { fillSecrets, httpAnswerMax, type HttpCall } from '../../messages/definitions/http-call.js';
import type { TaskCall } from '../../messages/definitions/task.js';
import { awayFailureType } from '../../messages/flow-run.js';
import { WorkflowSecret } from '../../models/workflows/definition.js';
import type { Platform } from '../../process/platform.js';
import type { NoAnswer } from '../../adapters/outgoing/request-sender.js';
import type { WebhookAnswer } from '../../adapters/webhooks/webhook-sender.js';
import { outerScope, type StepCall } from '../flows/flow-step.js';
import { HiddenSecrets } from './hidden-secrets.js';
import { httpRequestOf } from './http-request.js';
import { findPublisher } from './publisher.js';
import { taskFailure } from './task-failure.js';

/** Characters of an answer that the message of an error shows. */
const shownMax = 300;

const noAnswers: Readonly<Record<NoAnswer, { status: number; message: string }>> = {
  refused: { status: 403, message: 'The address is not public.' },
  late: { status: 504, message: 'There was no answer in time.' },
  tooLong: { status: 502, message: `The answer is longer than ${httpAnswerMax} bytes.` },
  lost: { status: 503, message: 'There was no answer.' },
};

/** The secrets that a version names, by their names. */
function openSecrets(
  { secrets }: Platform,
  rows: readonly WorkflowSecret[],
): ReadonlyMap<string, string> {
  const opened = new Map<string, string>();
  for (const { name, sealed } of rows) {
    try {
      opened.set(name, secrets.open(sealed));
    } catch {
      throw problem.conflict(
        `The secret '${name}' was sealed with another SECRET_KEY: set it again.`,
      );
    }
  }
  return opened;
}

const isJson = /^[^;]*[/+]json\b/i;

/** What an answer says: JSON where it is that, a text otherwise. 502: it says that it is, and is none. */
async function contentOf(
  { answer, headers }: WebhookAnswer,
  hiding: HiddenSecrets,
): Promise<unknown> {
  const text = answer ?? '';
  if (text === '') return null;
  const type = headers?.['content-type'];
  if (type === undefined || isJson.test(type)) {
    try {
      return await hiding.json(jsonWithDoubles(parseJson(text)));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const begin = (await hiding.text(text)).slice(0, shownMax);
      if (type !== undefined) throw taskFailure(502, `The answer is no valid JSON: ${begin}`);
    }
  }
  return hiding.text(text);
}

/** What the task gives; a failure of the task where there is no answer, or no good one. */
async function outputOf(
  answer: WebhookAnswer,
  call: HttpCall,
  hiding: HiddenSecrets,
  isSecretPlace: boolean,
): Promise<unknown> {
  const { isOk, statusCode, error, noAnswer, headers = {} } = answer;
  if (statusCode === null) {
    // What sends has failed, not the receiver: the call is made again under its key.
    if (noAnswer === undefined) {
      throw ApplicationFailure.retryable('The sender of requests has failed.', awayFailureType);
    }
    const { status, message } = noAnswers[noAnswer];
    // The address may be a secret itself, and the reason names its host.
    throw taskFailure(status, isSecretPlace ? message : await hiding.text(error ?? message));
  }
  if (!isOk) {
    const said = await hiding.text(answer.answer ?? '');
    const shown = said.length > shownMax ? `${said.slice(0, shownMax)}…` : said;
    // What another server has answered is no answer of ours: its 404 is not that we have no such record.
    throw taskFailure(statusCode, [error ?? '', shown].filter(Boolean).join(' '), 'badGateway');
  }
  const content = await contentOf(answer, hiding);
  if (call.output !== 'response') return content;
  return { statusCode, headers: await hiding.json(headers), content };
}

/**
 * Makes a call of `http`: secrets are opened here and nowhere else, and are hidden in what comes back. A
 * call that is repeated has the same key.
 */
export async function callServer(
  platform: Platform,
  { run, input: task }: StepCall<TaskCall>,
): Promise<unknown> {
  const { with: given, secretMark = '', seq, isUndo } = task;
  if (!isObject(given)) throw problem.validation("'with' must be an object");
  const { roles, definition } = await findPublisher(platform, run);
  // With a secret one may do what its server allows: that is for those who may publish.
  if (!roles.includes('ADMIN')) throw problem.forbidden('The role ADMIN is required.');
  const { db, tenantId } = await outerScope(platform, run);
  const all = await WorkflowSecret.query(db.read).forTenant(tenantId);
  const secrets = openSecrets(
    platform,
    all.filter(({ name }) => definition.includes(name)),
  );
  const hiding = new HiddenSecrets([...secrets.values()]);
  const isSecretPlace = JSON.stringify(given['endpoint'] ?? null).includes(secretMark);
  const call = fillSecrets(given, secretMark, (name) => {
    const value = secrets.get(name);
    if (value === undefined) throw problem.notFound(`There is no secret '${name}'.`);
    return value;
  }) as HttpCall;
  const key = `${run.executionId}/${seq}${isUndo ? '/undo' : ''}`;
  const answer = await platform.webhooks.request(httpRequestOf(call, key));
  return outputOf(answer, call, hiding, isSecretPlace && secretMark !== '');
}
