import type { Knex } from 'knex';
import { newId } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';

/** How a client signs in; only the last one needs anything of this server. */
export type McpAuthType = 'none' | 'headers' | 'oauth' | 'per_user_oauth';

/** An MCP client as the command line configures it (spec/platform.md R52). */
export interface McpClient {
  readonly id: string;
  readonly name: string;
  readonly authType: McpAuthType;
  readonly createdAt: Date;
}

/** Adds a client. 409: there is one of that name. */
export async function addMcpClient(
  db: Knex,
  { name, authType }: Pick<McpClient, 'name' | 'authType'>,
): Promise<void> {
  const rows = (await db('mcpClient')
    .insert({ id: newId(), name, authType, createdAt: new Date() })
    .onConflict('name')
    .ignore()
    .returning('id')) as unknown[];
  if (rows.length === 0) throw problem.conflict(`There is an MCP client '${name}' already.`);
}

export const listMcpClients = (db: Knex): Promise<McpClient[]> =>
  db<McpClient>('mcpClient').orderBy('name');

/** Removes a client; false when there is none of that name. */
export const removeMcpClient = async (db: Knex, name: string): Promise<boolean> =>
  (await db('mcpClient').where({ name }).delete()) > 0;

/** Whether clients may register themselves (spec/gateway.md R12). */
export async function hasPerUserClient(db: Knex): Promise<boolean> {
  return (await db('mcpClient').where({ authType: 'per_user_oauth' }).first('id')) !== undefined;
}
