import type { Attack } from '../attack.js';
import { numbers, publish } from './workflows.js';

/** A sandbox, whose time is moved as often and as far as its tenant likes. */

const textOf = (value: unknown): string => JSON.stringify(value);
const clock = '/v1/clock';

export const sandboxAttacks: readonly Attack[] = [
  {
    name: 'sandbox: a century at a time over executions that wait for each day of it',
    operations: ['getClock', 'moveClock'],
    isShort: true,
    seconds: 6,
    async run(attacker) {
      const token = attacker.loot.sandboxToken;
      const each = { rest: { wait: { days: 1 } } };
      const tasks = [{ loop: { for: { in: '${ input.list }', each: 'day' }, do: [each] } }];
      const name = await publish(attacker, tasks, {}, token);
      const starts = numbers(50).map(() =>
        attacker.send({
          path: `/v1/workflows/${name}/execute`,
          method: 'POST',
          token,
          body: textOf({ data: { list: numbers(1_000) }, async: true }),
        }),
      );
      await Promise.all(starts);
      await attacker.flood((index) => {
        if (index % 2 === 1) return { path: clock, token };
        const now = new Date(Date.UTC(2_100 + index, 0, 1)).toISOString();
        return { path: clock, method: 'POST', token, body: textOf({ now }) };
      });
    },
  },
];
