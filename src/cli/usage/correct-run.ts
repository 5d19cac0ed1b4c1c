import { setTimeout as wait } from 'node:timers/promises';
import { parseJson, stringifyJson } from '../../kernel/text/json.js';
import { issueForCommand } from '../access/named-tenant.js';
import { instanceAddresses, withInstance } from '../start/instance.js';

export interface CorrectOptions {
  readonly tenant: string;
  readonly reason: string;
  readonly cancel?: string;
  readonly amend?: string;
  readonly message?: string;
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly contract?: string;
  readonly service?: string;
  readonly dryRun?: true;
}

interface Answer {
  readonly executionId: string;
  readonly status: string;
  readonly output: Readonly<Record<string, unknown>> | null;
  readonly error?: { readonly message: string } | null;
}

const pollMs = 500;

/** What is asked for: exactly one of an event that goes, one that is amended, and a range. */
function requestOf(options: CorrectOptions): { readonly path: string; readonly body: object } {
  const { reason, cancel, amend, message, from, to } = options;
  const asked = [cancel, amend, from].filter((given) => given !== undefined).length;
  if (asked !== 1) throw new Error('Give one of --cancel, --amend and --from with --to.');
  const event = (id: string, way: string): string =>
    `/v1/usage-events/${encodeURIComponent(id)}/${way}`;
  if (cancel !== undefined) return { path: event(cancel, 'cancel'), body: { reason } };
  if (amend !== undefined) {
    if (message === undefined) throw new Error('--amend needs the content: --message.');
    // As it was given, so that numbers keep all their digits.
    JSON.parse(message);
    return { path: event(amend, 'amend'), body: { reason, message } };
  }
  if (to === undefined) throw new Error('--from needs --to.');
  const data = {
    from,
    to,
    reason,
    dryRun: options.dryRun === true,
    accountId: options.account,
    contractId: options.contract,
    serviceId: options.service,
  };
  return { path: '/v1/workflows/rerate-usage/execute', body: { data, async: true } };
}

/** A body whose `message` is JSON already. */
const textOf = ({ message, ...body }: { readonly message?: unknown }): string => {
  const text = JSON.stringify(body);
  return typeof message === 'string' ? `${text.slice(0, -1)},"message":${message}}` : text;
};

/** Corrects usage over the API of the running instance, and prints what came of it. */
export async function correctFromTerminal(options: CorrectOptions): Promise<void> {
  const { path, body } = requestOf(options);
  const { apiUrl } = await instanceAddresses();
  const given = { orgId: null, roles: ['ADMIN'], expiresInSeconds: 86_400 };
  const token = await withInstance((access) => issueForCommand(access, options.tenant, given));
  const call = async (at: string, text?: string): Promise<Answer> => {
    const answer = await fetch(`${apiUrl}${at}`, {
      ...(text === undefined ? {} : { method: 'POST', body: text }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    const content = parseJson(await answer.text()) as Answer;
    if (!answer.ok) throw new Error(content.error?.message ?? `The API answers ${answer.status}.`);
    return content;
  };
  const started = await call(path, textOf(body));
  if (options.from === undefined) return console.log(stringifyJson(started));
  let ended = started;
  while (ended.status === 'running') {
    await wait(pollMs);
    ended = await call(`/v1/workflows/rerate-usage/executions/${started.executionId}`);
  }
  if (ended.status !== 'completed') {
    throw new Error(ended.error?.message ?? `The execution is ${ended.status}.`);
  }
  console.log(stringifyJson(ended.output));
}
