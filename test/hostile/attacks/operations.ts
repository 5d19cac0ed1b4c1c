import { bodyBytesMax } from '../../../src/api/server/read-body.js';
import { operations } from '../../../src/schemas/index.js';
import type { Operation } from '../../../src/schemas/http/operation.js';
import { bodyIn, pathIn, queryIn } from '../../support/http/world.js';
import type { Schema } from '../../support/http/places.js';
import type { Attack } from '../attack.js';
import type { Attacker, Request } from '../attacker.js';
import { greatest, numbered } from '../greatest.js';

/** Of each resource, every operation with the greatest bodies and parameters that it allows. */

/** As many of each name as the list may have, deep in it, and over all that is there. */
const dearest: Readonly<Record<string, readonly string[]>> = {
  limit: ['1000'],
  offset: ['0', '15000', '999999999999'],
  size: ['100'],
  page: ['0', '150', '99999999'],
  q: ['a', 'z'.repeat(255), '%_'.repeat(127)],
  from: ['0001-01-01'],
  to: ['9998-12-31'],
  fromDate: ['1900-01-01'],
  toDate: ['2999-12-31'],
  fields: [Array.from({ length: 400 }, (_each, index) => `f${index}`).join(',')],
  sort: ['name:desc', 'tags:asc'],
  format: ['ndjson', 'csv', 'parquet'],
  view: ['row'],
  force: ['true'],
  draftMode: ['true'],
  reason: ['r'.repeat(255)],
  actor: ['a'.repeat(255)],
  bucket: ['hour', 'none'],
  groupBy: ['dimension:units,dimension:region,account', 'account,attribute,contract'],
  externalTransactionId: ['txn-19999', 't'.repeat(255)],
};

/** A query of an operation, another one each time. */
function queryOf(attacker: Attacker, operation: Operation): string {
  const required = queryIn(attacker.loot, operation);
  const names = Object.keys(operation.query?.properties ?? {});
  const number = attacker.next();
  const pairs = names.flatMap((name, index) => {
    const values = dearest[name];
    if (values === undefined || required.includes(`${name}=`)) return [];
    // Every second time a parameter is left out, each in its own rhythm.
    const turn = Math.floor(number / (1 + (index % 3)));
    const isPaging = ['limit', 'offset', 'size', 'page'].includes(name);
    if (!isPaging && turn % 2 === 1) return [];
    return [`${name}=${encodeURIComponent(values[turn % values.length] ?? '')}`];
  });
  const filters = names.includes('filter') ? [`filter=name:contains:${'x'.repeat(500)}`] : [];
  const all = [...pairs, ...filters].join('&');
  if (all === '') return required;
  return required === '' ? `?${all}` : `${required}&${all}`;
}

/** The greatest body of an operation; made once, for it takes as long as many requests. */
export function bodyText(
  attacker: Attacker,
  { body, bodyMax, example }: Operation,
): string | undefined {
  if (body === undefined) return undefined;
  // Where less is sent than may be, the attacker's own machine is not the limit.
  const room = Math.min(bodyMax ?? bodyBytesMax, 4 * bodyBytesMax) * 0.9;
  const like = example === undefined ? undefined : bodyIn(attacker.loot, example);
  return greatest(body as unknown as Schema, '', room, like) ?? '{}';
}

/** What makes another record to be deleted: the POST on the path that the item's lies below. */
function makerOf(operation: Operation, all: readonly Operation[]): Operation | undefined {
  const parent = operation.path.replace(/\/\{\w+\}$/, '');
  const isBelow = parent !== operation.path;
  return all.find(({ method, path }) => isBelow && method === 'POST' && path === parent);
}

class Operator {
  readonly #attacker: Attacker;
  readonly #all: readonly Operation[];
  readonly #bodies = new Map<string, string | undefined>();

  constructor(attacker: Attacker, all: readonly Operation[]) {
    this.#attacker = attacker;
    this.#all = all;
  }

  request(operation: Operation): Request {
    const { id, method, path } = operation;
    if (!this.#bodies.has(id)) this.#bodies.set(id, bodyText(this.#attacker, operation));
    const text = this.#bodies.get(id);
    const stamp = `${this.#attacker.stamp}${this.#attacker.next()}`;
    const whole = pathIn(this.#attacker.loot, path) + queryOf(this.#attacker, operation);
    return { path: whole, method, ...(text === undefined ? {} : { body: numbered(text, stamp) }) };
  }

  /** What is to be deleted is made first: what the tests need stays, and there is always one. */
  async send(operation: Operation): Promise<unknown> {
    const maker = operation.method === 'DELETE' ? makerOf(operation, this.#all) : undefined;
    if (operation.method !== 'DELETE') return this.#attacker.send(this.request(operation));
    if (maker?.example === undefined) return undefined;
    const { loot, stamp } = this.#attacker;
    const marked = { ...loot, tenant: { id: `${stamp}${this.#attacker.next()}` } };
    const made = await this.#attacker.make(pathIn(loot, maker.path), {
      ...bodyIn(marked, maker.example),
      ...('name' in maker.example ? { name: `spare ${marked.tenant.id}` } : {}),
    });
    const id = typeof made?.['id'] === 'string' ? made['id'] : undefined;
    if (id === undefined) return undefined;
    const path = operation.path.replace(/\{\w+\}$/, id);
    return this.#attacker.send({ path: pathIn(loot, path), method: 'DELETE' });
  }
}

const isSentByHand = new Set(['registerClient', 'authorizeClient']);

function attackOn(resource: string, all: readonly Operation[]): Attack {
  const sent = all.filter(({ id }) => !isSentByHand.has(id));
  return {
    name: `all of ${resource}`,
    operations: sent.map(({ id }) => id),
    async run(attacker) {
      const operator = new Operator(attacker, all);
      await attacker.repeat(() => {
        const operation = sent[attacker.next() % sent.length];
        return operation === undefined ? Promise.resolve() : operator.send(operation);
      });
    },
  };
}

const resources: Readonly<Record<string, Readonly<Record<string, Operation>>>> = operations;

export const operationAttacks: readonly Attack[] = Object.entries(resources)
  .filter(([resource]) => resource !== 'oauth')
  .map(([resource, declared]) => attackOn(resource, Object.values(declared)));
