import type { Knex } from 'knex';
import { createHold } from '../../commands/balances/holds/create-hold.js';
import type { HoldDto } from '../../commands/balances/holds/hold.js';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';

/** Holds money, and notifies who shows what is held once it is committed. 400, 409: see there. */
export async function makeHold(
  scope: Scope,
  { changes }: Platform,
  input: Parameters<typeof createHold>[1],
): Promise<HoldDto> {
  const hold = await createHold(scope, input);
  const { read } = scope.db;
  const notify = (): void => changes.notify(scope.tenantId, { usage: true, executions: [] });
  // Under an Idempotency-Key it is a part of the transaction of the request.
  if (read.isTransaction !== true) notify();
  else void (read as Knex.Transaction).executionPromise.then(notify, () => undefined);
  return hold;
}
