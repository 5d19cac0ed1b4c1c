import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import type { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Tool } from '../../schemas/mcp/tool-sets.js';
import { answerTokens, describeTool } from '../../schemas/mcp/tool-input.js';
import type { ToolArguments, ToolResult } from './call-tool.js';
import { offeredTools, type OfferedTools } from './offered-tools.js';

const instructions = `Usage-based billing: accounts have contracts, contracts have services (lines),
services have prices (rate cards) and pricing formulas; usage events are rated into charges (rated
transactions), which invoices add up.

An id may be a UUID or, where the parameter says so, the number or name that people use.
- Why is an invoice so high: explainInvoice says what is large in it, the five largest events, and what
  changed since the account's invoice before; with summaryOnly false it shows transactions and formula steps.
- What would other usage cost: simulateUsage prices events without writing anything. Take an event of
  the account (getUsageEvent shows its message) and change its dimensions, such as twice the volume;
  with an eventTimestamp in a month that has no usage yet, monthly tiers begin at zero.

Lists answer {items, total, next}: call again with the arguments in next. Fields without a value are left
out. An answer has at most ${answerTokens.default} tokens and says what it left out; maxTokens asks for
more. Numbers are exact decimals: quote them as they are. Tools whose names begin with "run" change
data; they are listed at /mcp?tools=all.`;

const described = new Map<Tool, ListedTool>();

/** A tool with its schema, made when it is first asked for: picklists are loaded by then. */
function listed(tool: Tool): ListedTool {
  const known = described.get(tool) ?? describeTool(tool);
  described.set(tool, known);
  return known;
}

/** Reads messages from one request and answers them as JSON. */
export async function openTransport(): Promise<WebStandardStreamableHTTPServerTransport> {
  // The SDK's modules would make every start half a second slower: they are read when first needed.
  const sdk = await import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js');
  return new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
}

let validatorOfAll: Promise<AjvJsonSchemaValidator> | undefined;

/** Checks what clients are asked for, which no tool does: a server that is given none makes one, in 1 ms. */
function validator(): Promise<AjvJsonSchemaValidator> {
  validatorOfAll ??= import('@modelcontextprotocol/sdk/validation/ajv').then(
    (sdk) => new sdk.AjvJsonSchemaValidator(),
  );
  return validatorOfAll;
}

/**
 * Reads the SDK and lets it parse a first message, which takes the thread for a quarter of a second: right
 * after a start, and not amid the requests of everybody when somebody calls the first tool.
 */
export async function warmUpMcp(): Promise<void> {
  const transport = await openTransport();
  const server = await createMcpServer(
    () => Promise.reject(new Error('Nobody calls.')),
    offeredTools(new URLSearchParams()),
  );
  await server.connect(transport);
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  const parsedBody = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const request = new Request('http://localhost', { method: 'POST', headers });
  await transport.handleRequest(request, { parsedBody });
  await server.close();
}

/** An MCP server for one request: it keeps nothing, so that any process answers any request. */
export async function createMcpServer(
  call: (tool: Tool, given: ToolArguments) => Promise<ToolResult>,
  offered: OfferedTools,
): Promise<Server> {
  const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
  const { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } =
    await import('@modelcontextprotocol/sdk/types.js');
  const server = new Server(
    { name: 'durabill', title: 'Durabill', version: packageJson.version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator: await validator() },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offered.listed.map(listed) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = offered.find(params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool '${params.name}'.`);
    return { ...(await call(tool, params.arguments ?? {})) };
  });
  return server;
}
