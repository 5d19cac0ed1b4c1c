import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Platform } from '../../platform/platform.js';
import { describeTool, findTool, tools } from '../../schemas/tool.js';
import { callTool, type ToolCaller } from './call-tool.js';

const instructions = `Usage-based billing: accounts have contracts, contracts have services (lines),
services have prices (rate cards) and pricing formulas; usage events are rated into charges (rated
transactions), which invoices add up. Ids are UUIDs: find them with the list tools. getUsageEvent
explains a charge down to the tier and formula step; simulateUsage prices an event without writing
anything. Tools whose names begin with "run" change data. Numbers are exact decimals: quote them as
they are.`;

let described: ListedTool[] | undefined;

/** The tools with their schemas, made when they are first asked for: picklists are loaded by then. */
function listedTools(): ListedTool[] {
  described ??= tools.map((tool) => describeTool(tool) as unknown as ListedTool);
  return described;
}

/** Reads messages from one request and answers them as JSON. */
export async function openTransport(): Promise<WebStandardStreamableHTTPServerTransport> {
  // The SDK's modules would make every start half a second slower: they are read when first needed.
  const sdk = await import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js');
  return new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
}

/** An MCP server for one request: it keeps nothing, so that any process answers any request. */
export async function createMcpServer(platform: Platform, caller: ToolCaller): Promise<Server> {
  const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
  const { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } =
    await import('@modelcontextprotocol/sdk/types.js');
  const server = new Server(
    { name: 'durabill', title: 'Durabill', version: packageJson.version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listedTools() }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = findTool(params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool '${params.name}'.`);
    return { ...(await callTool(tool, params.arguments ?? {}, caller, platform)) };
  });
  return server;
}
