import { TenantModel } from '../db/tenant-model.js';

/** A call of a tool by an MCP client. */
export class ToolCall extends TenantModel {
  static override tableName = 'tool_call';

  declare tool: string;
  /** JSON text, so that numbers keep their digits. */
  declare arguments: string;
  declare clientId: string | null;
  declare status: 'Started' | 'Completed' | 'Failed';
  /** The code of the problem that it failed with. */
  declare errorCode: string | null;
  declare startedAt: Date;
  declare endedAt: Date | null;
}
