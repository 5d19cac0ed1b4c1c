import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { Logger } from '../log.js';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/** What workflows are found by in Temporal's UI. */
export const searchKeys = {
  tenant: keyword('TenantId'),
  flow: keyword('Flow'),
  entityType: keyword('EntityType'),
  entityId: keyword('EntityId'),
  actor: keyword('Actor'),
};

/** What executions of tenants' definitions are found by, too, where the server has these. */
export const definitionKeys = {
  definition: keyword('Definition'),
  version: defineSearchAttributeKey('DefinitionVersion', SearchAttributeType.INT),
};

type Key = { readonly name: string; readonly type: SearchAttributeType };

/** INDEXED_VALUE_TYPE_KEYWORD and _INT of Temporal's API. */
const typeCodes: Partial<Record<SearchAttributeType, number>> = { KEYWORD: 2, INT: 3 };

const alreadyExists = 6;

/** How long a server may take until all of it knows what was registered. */
const knownWithinMs = 10_000;

/** Registers what is missing; whether anything was. */
async function register(
  { operatorService }: Connection,
  namespace: string,
  keys: Readonly<Record<string, Key>>,
): Promise<boolean> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(keys).filter(({ name }) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return false;
  try {
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map(({ name, type }) => [name, typeCodes[type] ?? 2]),
      ),
    });
  } catch (error) {
    if ((error as { code?: number }).code !== alreadyExists) throw error;
  }
  return true;
}

/** Asks for workflows by what was just registered, until the server knows it. */
async function untilKnown({ workflowService }: Connection, namespace: string): Promise<void> {
  const { definition, version } = definitionKeys;
  const query = `${definition.name} = "" and ${version.name} = 0`;
  for (const since = Date.now(); ; await wait(100)) {
    try {
      await workflowService.countWorkflowExecutions({ namespace, query });
      return;
    } catch (error) {
      if (Date.now() - since > knownWithinMs) throw error;
    }
  }
}

/**
 * Registers what workflows are found by. Whether executions can have what definitions are found by: a
 * server may have no room for it, or let only its operator register it, and starts what has it not.
 */
export async function registerSearchAttributes(
  connection: Connection,
  namespace: string,
  log: Logger,
): Promise<boolean> {
  await register(connection, namespace, searchKeys);
  try {
    if (await register(connection, namespace, definitionKeys)) {
      await untilKnown(connection, namespace);
    }
    return true;
  } catch (error) {
    log.warn({ err: error }, 'executions of definitions are not found by them in Temporal');
    return false;
  }
}
