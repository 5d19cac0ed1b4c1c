import { setTimeout as pause } from 'node:timers/promises';
import { json, openServer } from '../support/servers/elsewhere.js';
import { workflowIdOf } from '../support/servers/histories.js';
import type { TestInstance, TestTenant } from '../support/servers/instance.js';

type Server = Awaited<ReturnType<typeof openServer>>;
type Keep = (name: string, history: object) => Promise<void>;

const look = { call: 'durabill.operation', with: { operationId: 'listAccounts' } };
/** What follows a limit is a call: where the limit is elsewhere, a replay asks for another one. */
const caught = (task: object): object => ({
  try: [{ over: task }],
  catch: { do: [{ told: look }] },
});
const under = (task: object): object => ({ do: [{ fine: task }, { went: look }] });

// Some 70,000 each, of 500,000 that those of one task may cost.
const dear = '${ input.l.all(a, input.l.all(b, input.l.all(c, a + b + c >= 0))) }';
const dearOnes = (count: number): object => ({
  input: { from: { l: '${ workflow.input.l }' } },
  set: Object.fromEntries(Array.from({ length: count }, (_each, at) => [`k${at}`, dear])),
});

/** Some 20,050 bytes each, of one text, which is all of them that stands in the history. */
const longOf = (count: number): string[] =>
  Array.from({ length: count }, () => '${ workflow.input.l.map(a, workflow.input.text) }');

/** What is taken back by a call that is given so many of these. */
const takenBack = (server: Server, count: number): object => ({
  set: { n: 1 },
  'durabill.undo': {
    call: 'http',
    with: { method: 'DELETE', endpoint: server.url, body: longOf(count) },
  },
});

/** Below and above what one task, its values and what takes it back may cost and have. */
const limits = (server: Server): readonly object[] => {
  const back = (count: number): object => takenBack(server, count);
  return [
    { costs: under(dearOnes(4)) },
    { costsMuch: caught(dearOnes(12)) },
    { has: under({ set: { of: longOf(13) } }) },
    { hasMuch: caught({ set: { of: longOf(14) } }) },
    { isGiven: under({ set: { n: 1 }, input: { from: { of: longOf(52) } } }) },
    { isGivenMuch: caught({ set: { n: 1 }, input: { from: { of: longOf(53) } } }) },
    { isTakenBack: under(back(12)) },
    { isKeptApart: under(back(2)) },
    { isTooLong: caught(back(53)) },
  ];
};

/** Two that fail once they are done: with the second it is too much for the state. */
const failsLate = (server: Server): readonly object[] => {
  const late = { ...takenBack(server, 7), output: { as: '${ output.nothing }' } };
  const tried = { try: [{ late }], catch: {} };
  return [{ first: tried }, { second: tried }, { went: look }];
};

/** A text that edition 3 takes as a number: the one that is kept was recorded under edition 2, and has a call. */
const exact = {
  input: {
    from: '1234567890123.123456789012',
    schema: { format: 'json', document: { type: 'number' } },
  },
  set: { n: 1 },
};

/** Calls that are taken back, and others that make the history long; the last of these ends all. */
const fails = (server: Server): readonly object[] => {
  const call = (method: string, more: object = {}): object => ({
    call: 'http',
    with: { method, endpoint: server.url, ...more },
  });
  const made = { ...call('POST'), 'durabill.undo': call('DELETE') };
  // More than is sent: it is refused before.
  const large = call('PUT', { body: longOf(45) });
  const rounds = ['a', 'b', 'c', 'd'].map((name) => ({
    [name]: { do: [{ made }, { tried: { try: [{ large }], catch: {} } }] },
  }));
  return [...rounds, { large }];
};

/** A call that is under way when it is canceled, and what it did is taken back. */
const held = (server: Server): readonly object[] => [
  {
    made: {
      call: 'http',
      with: { method: 'PATCH', endpoint: server.url },
      'durabill.undo': { call: 'http', with: { method: 'DELETE', endpoint: server.url } },
    },
  },
  { never: look },
];

/** Keeps the histories of executions near their limits, and of what is taken back. */
export async function recordLimits(
  instance: TestInstance,
  tenant: TestTenant,
  keep: Keep,
): Promise<void> {
  const server = await openServer();
  const { workflow } = instance.platform.temporal.waiter;
  let answerHeld = (): void => undefined;
  server.answer = (asked, response) => {
    const answer = (): void => json({ id: 1 })(asked, response);
    if (asked.method === 'PATCH') answerHeld = answer;
    else answer();
  };
  const data = { l: Array.from({ length: 16 }, (_each, at) => at), text: 'x'.repeat(1_250) };
  /** Begins an execution; its place in Temporal. */
  const begin = async (name: string, list: readonly object[]): Promise<string> => {
    const document = { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' };
    await tenant.post('/v1/workflows', { definition: { document, do: list } }).expect(201);
    const path = `/v1/workflows/${name}/execute`;
    const { body } = await tenant.post(path, { data, async: true }).expect(200);
    return workflowIdOf(tenant, body.executionId);
  };
  /** The last history of an execution, once it has ended. */
  const lastOf = async (place: string): Promise<object> => {
    const handle = workflow.getHandle(place);
    await handle.result().catch(() => undefined);
    return handle.fetchHistory();
  };
  await keep(
    'definition-exact-number',
    await lastOf(await begin('exact', [{ exact: caught(exact) }])),
  );
  await keep('definition-limits', await lastOf(await begin('limits', limits(server))));
  await keep('definition-undo-in-blocks', await lastOf(await begin('late', failsLate(server))));
  await keep('definition-undone-later', await lastOf(await begin('fails', fails(server))));

  const place = await begin('held', held(server));
  while (!server.asked.some(({ method }) => method === 'PATCH')) await pause(20);
  const handle = workflow.getHandle(place);
  await handle.cancel();
  const isCanceled = async (): Promise<boolean> =>
    ((await handle.fetchHistory()).events ?? []).some(
      (event) => event.activityTaskCancelRequestedEventAttributes,
    );
  while (!(await isCanceled())) await pause(20);
  answerHeld();
  await keep('definition-canceled', await lastOf(place));
  server.close();
}
