import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';

/** Definitions of a tenant that are made to cost as much as they may. */

const textOf = (value: unknown): string => JSON.stringify(value);

/** Publishes a definition under a name of its own, and gives it; what runs of it ends behind the attack. */
export async function publish(
  attacker: Attacker,
  tasks: object[],
  more: object = {},
  token = attacker.token,
): Promise<string> {
  const name = `w${attacker.stamp}-${attacker.next()}`;
  const document = { dsl: '1.0.0', namespace: 'hostile', name, version: '1.0.0' };
  const { status, text } = await attacker.send({
    path: '/v1/workflows',
    method: 'POST',
    token,
    body: textOf({ definition: { document, do: tasks, ...more } }),
  });
  if (status !== 201) throw new Error(`${status} ${text.slice(0, 200)}`);
  attacker.afterwards({ path: `/v1/workflows/${name}?force=true`, method: 'DELETE', token });
  return name;
}

/** Starts it as often as it can. */
const starting = async (attacker: Attacker, name: string, data: object): Promise<void> => {
  await attacker.flood(() => ({
    path: `/v1/workflows/${name}/execute`,
    method: 'POST',
    body: textOf({ data, async: true }),
  }));
};

async function attackWith(
  attacker: Attacker,
  tasks: object[],
  { data = {}, more = {} }: { readonly data?: object; readonly more?: object } = {},
): Promise<void> {
  const name = await publish(attacker, tasks, more);
  await starting(attacker, name, data);
}

export const numbers = (count: number): number[] =>
  Array.from({ length: count }, (_each, at) => at);
const list = '${ input.list }';
const step = { step: { set: { list } } };
const turns = (tasks: object[], name = 'loop') => ({
  [name]: { for: { in: list, each: `e${name}` }, do: tasks },
});
const branches = (make: (index: number) => object) => ({
  fork: { branches: numbers(20).map((index) => ({ [`b${index}`]: make(index) })) },
});

/** Has a definition checked as often as it can. */
const checking = (attacker: Attacker, tasks: object[]): Promise<void> => {
  const document = { dsl: '1.0.0', namespace: 'hostile', name: 'checked', version: '1.0.0' };
  const body = textOf({ definition: { document, do: tasks } });
  return attacker.flood(() => ({ path: '/v1/workflows/validate', method: 'POST', body }));
};

/** Starts what gives a secret another value for each item of a list, beside texts that are looked through for it. */
async function puttingSecrets(attacker: Attacker, data: object): Promise<void> {
  await attacker.send({
    path: '/v1/secrets/LOOP',
    method: 'PUT',
    body: textOf({ value: 'before' }),
  });
  const text = '${ eloop < 33 ? workflow.input.long : workflow.input.short }';
  const value = '${ workflow.input.key + string(eloop) }';
  const put = { operationId: 'putSecret', parameters: { name: 'LOOP' }, body: { value } };
  const tasks = [
    { much: { set: { text } } },
    { put: { call: 'durabill.operation', with: put, output: { as: { text } } } },
  ];
  await attackWith(attacker, [turns(tasks)], { data });
}

export const workflowAttacks: readonly Attack[] = [
  {
    name: 'workflows: loops of a thousand turns within each other',
    isShort: true,
    run: (attacker) =>
      attackWith(attacker, [turns([turns([step], 'inner')], 'outer')], {
        data: { list: numbers(1_000) },
      }),
  },
  {
    name: 'workflows: an expression as dear as one may be, a thousand times',
    isShort: true,
    run: (attacker) =>
      attackWith(
        attacker,
        [
          turns([
            {
              dear: {
                set: {
                  list,
                  all: '${ input.list.all(a, input.list.all(b, a + b < 100000)) }',
                },
              },
            },
          ]),
        ],
        { data: { list: numbers(200) } },
      ),
  },
  {
    name: 'workflows: forks of forks',
    run: (attacker) =>
      attackWith(
        attacker,
        [
          { f: branches(() => ({ wait: { milliseconds: 1 } })) },
          { g: branches(() => ({ do: [{ h: { wait: { milliseconds: 1 } } }] })) },
          turns([{ f: branches(() => ({ set: { list } })) }]),
        ],
        { data: { list: numbers(500) } },
      ),
  },
  {
    name: 'workflows: 256 KiB of state in each of a thousand turns',
    isShort: true,
    run: (attacker) =>
      attackWith(
        attacker,
        [
          { keep: { set: { list }, export: { as: { text: '${ workflow.input.text }' } } } },
          turns([{ grow: { set: { list, text: '${ context.text }', at: '${ index }' } } }]),
        ],
        { data: { list: numbers(1_000), text: 'x'.repeat(120_000) } },
      ),
  },
  {
    name: 'workflows: a thousand executions that wait, and wake at once',
    run: (attacker) =>
      attackWith(attacker, [turns([{ rest: { wait: { milliseconds: 500 } } }, step])], {
        data: { list: numbers(1_000) },
      }),
  },
  {
    name: 'workflows: calls of calls',
    isShort: true,
    async run(attacker) {
      let inner: string | undefined;
      for (let level = 0; level < 5; level += 1) {
        const call: object =
          inner === undefined
            ? { call: 'durabill.operation', with: { operationId: 'listAccounts' } }
            : {
                call: 'durabill.operation',
                with: {
                  operationId: 'executeWorkflow',
                  parameters: { workflowId: inner },
                  body: { data: {}, async: true },
                },
              };
        inner = await publish(attacker, [{ f: branches(() => call) }]);
      }
      await starting(attacker, inner ?? '', {});
    },
  },
  {
    name: 'workflows: events that start each other, and conditions on all of them',
    isShort: true,
    async run(attacker) {
      const event = { type: 'custom.echo', data: { list: numbers(200), of: '${ workflow.id }' } };
      const emit = { emit: { event: { with: event } } };
      const names: string[] = [];
      for (let each = 0; each < 5; each += 1) {
        const data = '${ data.list.all(a, data.list.exists(b, a == b)) }';
        const schedule = { on: { one: { with: { type: 'custom.echo', data } } } };
        names.push(await publish(attacker, [{ f: branches(() => emit) }], { schedule }));
      }
      const waits = { to: { one: { with: { type: 'custom.echo', data: '${ data.of == "x" }' } } } };
      const listening = branches(() => ({ listen: { ...waits, timeout: 'PT20S' } }));
      names.push(await publish(attacker, [{ f: listening }]));
      for (let each = 0; each < 20; each += 1) {
        await attacker.send({
          path: `/v1/workflows/${names.at(-1) ?? ''}/execute`,
          method: 'POST',
          body: textOf({ data: {}, async: true }),
        });
      }
      await starting(attacker, names[0] ?? '', {});
    },
  },
  {
    name: 'workflows: as many that listen as may, and events with a condition for each',
    seconds: 6,
    async run(attacker) {
      const condition = '${ data.list.all(a, a >= 0) && data.of == "nobody" }';
      const one = { with: { type: 'custom.call', data: condition } };
      const listening = await publish(attacker, [
        { f: branches(() => ({ listen: { to: { one }, timeout: 'PT60S' } })) },
      ]);
      // A hundred with twenty branches each: 2,000 may listen.
      for (let each = 0; each < 100 && !attacker.isOver(); each += 10) {
        const starts = numbers(10).map(() =>
          attacker.send({
            path: `/v1/workflows/${listening}/execute`,
            method: 'POST',
            body: textOf({ data: {}, async: true }),
          }),
        );
        await Promise.all(starts);
      }
      const event = { type: 'custom.call', data: { list: numbers(200), of: 'all' } };
      const calling = await publish(attacker, [
        { f: branches(() => ({ emit: { event: { with: event } } })) },
      ]);
      await starting(attacker, calling, {});
    },
  },
  {
    name: 'workflows: checks of names that are nearly those of operations',
    run: (attacker) =>
      checking(
        attacker,
        numbers(200).map((at) => ({
          [`t${at}`]: {
            call: 'durabill.operation',
            // As long as names are that something near is looked for.
            with: { operationId: `listUsageEventsOfTheAccountWithNumber${100 + at}` },
          },
        })),
      ),
  },
  {
    name: 'workflows: checks of twelve thousand parameters that no operation has',
    run: (attacker) =>
      checking(attacker, [
        {
          look: {
            call: 'durabill.operation',
            with: {
              operationId: 'getAccount',
              parameters: Object.fromEntries(
                numbers(12_000).map((at) => [`p${at.toString(36)}`, '']),
              ),
            },
          },
        },
      ]),
  },
  {
    name: 'workflows: a secret that gets a thousand values, beside results as long as are shown',
    isShort: true,
    async run(attacker) {
      // Signs that are written otherwise have to be read: there are some in each text.
      const long = '50% "off" & more \\ '.repeat(300);
      const data = { list: numbers(1_000), long, short: long.slice(0, 330), key: 'k'.repeat(40) };
      await puttingSecrets(attacker, data);
    },
  },
  {
    name: 'workflows: a secret of one sign again and again, beside results of the same',
    async run(attacker) {
      const long = 'a'.repeat(6_000);
      const data = {
        list: numbers(1_000),
        long,
        short: long.slice(0, 330),
        key: 'a'.repeat(3_900),
      };
      await puttingSecrets(attacker, data);
    },
  },
  {
    name: 'workflows: as much that takes tasks back as may be kept, and all of it called',
    seconds: 60,
    async run(attacker) {
      // 75 tasks of 900,000 bytes pass 64 MiB: that one fails, and all before it are taken back.
      const text = '${ workflow.input.text }';
      const undo = { call: 'durabill.price', with: { message: { of: text, and: text } } };
      const made = {
        call: 'durabill.operation',
        with: { operationId: 'listCurrencies' },
        output: { as: {} },
        'durabill.undo': undo,
      };
      const name = await publish(attacker, [turns([{ made }])]);
      const data = { list: numbers(80), text: 'x'.repeat(450_000) };
      const path = `/v1/workflows/${name}`;
      for (let each = 0; each < 4; each += 1) {
        const body = textOf({ data, async: true });
        await attacker.send({ path: `${path}/execute`, method: 'POST', body });
      }
      await attacker.flood(() => ({ path: `${path}/executions`, method: 'GET' }));
    },
  },
  {
    name: 'workflows: diagrams of as many tasks as may be, with arrows all over',
    async run(attacker) {
      const to = (at: number): string => `t${Math.min(199, at)}`;
      const tasks = numbers(200).map((at) => ({
        [`t${at}`]:
          at === 199
            ? { set: { done: true } }
            : {
                switch: [
                  { far: { when: '${ input.amount > 1 }', then: to(at + 100) } },
                  { default: { then: to(at + 50) } },
                ],
              },
      }));
      const name = await publish(attacker, tasks);
      await attacker.flood(() => ({ path: `/v1/workflows/${name}/diagram` }));
    },
  },
  {
    name: 'workflows: dry runs of loops',
    async run(attacker) {
      const name = await publish(attacker, [turns([turns([step], 'inner')], 'outer')]);
      await attacker.flood(() => ({
        path: `/v1/workflows/${name}/simulate`,
        method: 'POST',
        body: textOf({ input: { list: numbers(1_000) } }),
      }));
    },
  },
  {
    name: 'workflows: dry runs that look for long texts in long texts, and read a duration of 100,000 digits',
    async run(attacker) {
      const expressions = [
        'duration(input.text)',
        'input.text.contains(input.sought)',
        'size(input.list.join(input.text))',
        'input.list.exists(x, input.text.lastIndexOf(input.sought) > 0)',
      ];
      const names = await Promise.all(
        expressions.map((one) => publish(attacker, [{ tried: { set: { x: `\${ ${one} }` } } }])),
      );
      const sought = `${'1'.repeat(100)}b${'1'.repeat(100_000)}`;
      const input = { text: '1'.repeat(100_000), sought, list: Array(1_000).fill('') };
      const body = textOf({ input });
      await attacker.flood((index) => {
        const name = names[index % names.length] ?? '';
        return { path: `/v1/workflows/${name}/simulate`, method: 'POST', body };
      });
    },
  },
  {
    name: 'workflows: an input of 199,000 items, each looked up among 60,000 that may be',
    async run(attacker) {
      const values = [...Array<number>(59_999).fill(0), 1];
      const properties = { list: { items: { enum: values } } };
      const schema = { format: 'json', document: { type: 'object', properties } };
      const name = await publish(attacker, [step], { input: { schema } });
      const body = textOf({ input: { list: Array(199_000).fill(1) } });
      await attacker.flood(() => ({
        path: `/v1/workflows/${name}/simulate`,
        method: 'POST',
        body,
      }));
    },
  },
];
