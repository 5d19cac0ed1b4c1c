import type { KillableProduct } from './killable.js';
import { until } from './workbench.js';

/** A task that makes an account without a number of ours: made twice, there would be two. */
export const makeAccount = (name: string): object => ({
  call: 'durabill.operation',
  with: { operationId: 'createAccount', body: { name } },
  'durabill.undo': {
    call: 'durabill.operation',
    with: { operationId: 'deleteAccount', parameters: { accountId: '${ output.id }' } },
  },
});

/** What a part of an execution makes is named after both. */
export const named = (part: string): string => `\${ "${part}-" + workflow.input.key }`;

/** The first tasks of what is killed: an account, an edit of it, and two more in a loop. */
export const firstSteps: readonly object[] = [
  { first: makeAccount(named('first')) },
  { edit: { call: 'durabill.account-edit', with: { id: '${ input.id }', net_term: 'Net 45' } } },
  {
    each: {
      for: { each: 'x', in: '${ ["a", "b"] }' },
      do: [{ made: makeAccount('${ "each-" + x + "-" + workflow.input.key }') }],
    },
  },
];

/** The last ones: it fails where its input says so. */
export const lastSteps: readonly object[] = [
  { over: { if: '${ workflow.input.fails }', raise: { error: { type: 'urn:end', status: 409 } } } },
  { done: { set: { key: '${ workflow.input.key }' } } },
];

export const documentOf = (name: string): object => ({
  dsl: '1.0.0',
  namespace: 'test',
  name,
  version: '1.0.0',
});

export interface EndedExecution {
  readonly status: string;
  readonly output: object | null;
  readonly undone: string[] | null;
}

/** How an execution has ended, which is waited for; whoever waits may do something meanwhile. */
export async function endOfExecution(
  product: KillableProduct,
  {
    tenantId,
    id,
    endMs,
  }: { readonly tenantId: string; readonly id: string; readonly endMs: number },
  meanwhile?: () => Promise<void>,
): Promise<EndedExecution> {
  const sql = `select status, output, error #> '{details,undone}' as undone
    from execution where tenant_id = '${tenantId}' and id = '${id}' and status <> 'running'`;
  let found: EndedExecution | undefined;
  const isOver = async (): Promise<boolean> => {
    await meanwhile?.();
    [found] = await product.query<EndedExecution>(sql);
    return found !== undefined;
  };
  await until(isOver, endMs, `the end of ${id}`);
  return found ?? { status: 'gone', output: null, undone: null };
}
