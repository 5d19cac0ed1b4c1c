import { stringifyJson } from '../../kernel/text/json.js';
import type { Scope } from '../../kernel/scope.js';
import { ToolCall } from '../../models/access/tool-call.js';

interface ToolCallStart {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The OAuth client that speaks for the actor; null for a key or token of the actor's own. */
  readonly clientId: string | null;
}

/**
 * Records a tool call before it is made, so that every call leaves a trace; the audit names the
 * actor (docs/decisions/0098). Returns the id of the record.
 */
export function recordToolCall(scope: Scope, call: ToolCallStart): Promise<string> {
  return scope.db.transaction(async (trx) => {
    const { id } = await ToolCall.query(trx)
      .forTenant(scope.tenantId)
      .insert({
        ...call,
        arguments: stringifyJson(call.arguments),
        status: 'Started',
        startedAt: scope.realNow(),
      });
    return id;
  });
}

/** Records how a call ended: with the code of its problem, or with null. */
export async function completeToolCall(
  scope: Scope,
  id: string,
  errorCode: string | null,
): Promise<void> {
  await scope.db.transaction(async (trx) => {
    await ToolCall.query(trx)
      .forTenant(scope.tenantId)
      .findById(id)
      .patch({
        status: errorCode === null ? 'Completed' : 'Failed',
        errorCode,
        endedAt: scope.realNow(),
      });
  });
}
