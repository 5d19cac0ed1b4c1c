import type Router from '@koa/router';
import type { Context } from 'koa';
import { allowsScope } from '../../kernel/oauth-scope.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Identity } from '../../access/authenticate.js';
import type { Platform } from '../../process/platform.js';
import { publicUrlFor, publicUrls } from '../../platform/config/public-url.js';
import { isReadOnly } from '../../schemas/http/operation.js';
import type { Lane } from '../../access/limits/requests-in-work.js';
import { readBodyText, valuesMax } from '../server/read-body.js';
import { sendText } from '../server/send-answer.js';
import {
  parseJsonInPortions,
  refuseUnstorableText,
  repeatedNamesProblem,
} from '../server/unstorable-text.js';
import { identify, type RequestState } from '../mount-operations.js';
import { mcpMetadataUrl, paths } from '../oauth/metadata.js';
import { bytesOf, isLargeBody, laneOf, takeTurn } from '../guards/wait-for-turn.js';
import { callTool, type ToolCaller } from './call-tool.js';
import { offeredTools, type OfferedTools } from './offered-tools.js';
import { createMcpServer, openTransport } from './mcp-server.js';
import { whenGone } from '../request/when-gone.js';

/** Pages of other origins have no business here (MCP 2025-11-25, "Security Warning"). */
function checkOrigin(ctx: Context, publicUrl: string): void {
  const origin = ctx.get('origin');
  if (origin !== '' && !publicUrls(publicUrl).some((one) => new URL(one).origin === origin)) {
    throw problem.forbidden('Pages of other origins may not call this server.');
  }
}

/** A call of a tool in a message, if it is one. */
function toolCallOf(message: unknown, offered: OfferedTools) {
  const { method, params } = (message ?? {}) as {
    readonly method?: unknown;
    readonly params?: { readonly name?: unknown; readonly arguments?: unknown };
  };
  const name = method === 'tools/call' ? params?.name : undefined;
  const tool = typeof name === 'string' ? offered.find(name) : undefined;
  const given = params?.arguments;
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  return tool && { tool, given: isObject ? (given as Record<string, unknown>) : {} };
}

/**
 * 403 for a tool that the token's scopes do not allow: clients that get this from HTTP, rather than
 * from the result, ask their user for more (MCP 2025-11-25, "Scope Challenge Handling").
 */
async function checkScopes(
  messages: unknown,
  caller: ToolCaller,
  platform: Platform,
  offered: OfferedTools,
) {
  const { grant } = caller.identity;
  if (!grant) return;
  for (const message of [messages].flat()) {
    const call = toolCallOf(message, offered);
    if (!call) continue;
    const needed = isReadOnly(call.tool.operation) ? 'mcp:read' : 'mcp:write';
    if (allowsScope(grant.scopes, needed)) continue;
    // It does nothing but record that it was refused.
    await callTool(call.tool, call.given, caller, platform);
    const scope = [...new Set([...grant.scopes, needed])].join(' ');
    throw problem.forbidden(`The scope ${needed} is required.`, { scope });
  }
}

/** Messages of a request, and what calls are told that bring a definition which has a member twice. */
interface Asked {
  readonly messages: unknown;
  readonly refused: Problem | undefined;
}

/** The first answer to an id would be that to all: the others would go on behind the request. */
function refuseRepeatedIds(messages: unknown): void {
  const known = new Set<unknown>();
  for (const message of Array.isArray(messages) ? (messages as unknown[]) : []) {
    const { id } = (message ?? {}) as { readonly id?: unknown };
    if (id === undefined) continue;
    if (known.has(id)) {
      throw problem.validation(`Two messages have the id ${JSON.stringify(id)}.`, { field: 'id' });
    }
    known.add(id);
  }
}

async function parseMessages(text: string, offered: OfferedTools): Promise<Asked> {
  const messages = await parseJsonInPortions(text, valuesMax);
  refuseUnstorableText(text, messages);
  refuseRepeatedIds(messages);
  for (const [index, message] of [messages].flat().entries()) {
    const part = toolCallOf(message, offered)?.tool.operation.writtenPart;
    if (part === undefined) continue;
    const at = Array.isArray(messages) ? [index] : [];
    // The text is looked through once, for all calls in it.
    const refused = await repeatedNamesProblem(text, part, [...at, 'params', 'arguments', 'body']);
    return { messages, refused };
  }
  return { messages, refused: undefined };
}

/** Messages that are answered as one light request. */
const lightMessagesMax = 10;
/** Characters of a body that is parsed before its turn, to see what it asks for: a fraction of a millisecond. */
const lightTextMax = 8 * 1024;

/** Where messages are worked on: where the heaviest of the operations is that they ask for. */
function laneOfMessages(messages: unknown, offered: OfferedTools): Lane {
  if (Array.isArray(messages) && messages.length > lightMessagesMax) return 'heavy';
  const lanes = new Set(
    [messages].flat().map((message) => {
      const call = toolCallOf(message, offered);
      return call ? laneOf(call.tool.operation) : 'light';
    }),
  );
  return (['heavy', 'flow'] as const).find((lane) => lanes.has(lane)) ?? 'light';
}

/** Answers when it is the tenant's turn: a message counts as the request that it is. */
async function answerInTurn(ctx: Context, identity: Identity, platform: Platform): Promise<void> {
  const offered = offeredTools(new URLSearchParams(ctx.querystring));
  // Without waiting for its client, unless it may take much memory.
  const text = isLargeBody(ctx.req) ? undefined : await readBodyText(ctx);
  const isLight = text !== undefined && text.length <= lightTextMax;
  const early = isLight ? await parseMessages(text, offered) : undefined;
  const lane = early ? laneOfMessages(early.messages, offered) : 'heavy';
  const leave = await takeTurn(ctx, platform, identity.tenantId, lane);
  try {
    const asked = early ?? (await parseMessages(text ?? (await readBodyText(ctx)), offered));
    await answerMessages(ctx, { identity, platform, offered }, asked);
  } finally {
    leave(bytesOf(ctx));
  }
}

interface Connection {
  readonly identity: Identity;
  readonly platform: Platform;
  readonly offered: OfferedTools;
}

async function answerMessages(
  ctx: Context,
  { identity, platform, offered }: Connection,
  { messages, refused }: Asked,
): Promise<void> {
  const { requestId, ids } = ctx.state as RequestState;
  const gone = new AbortController();
  whenGone(ctx, () => gone.abort());
  const caller = { identity, requestId, ids, gone: gone.signal, refused };
  await checkScopes(messages, caller, platform, offered);
  const transport = await openTransport();
  const calls: Promise<unknown>[] = [];
  let heavy: Promise<unknown> = Promise.resolve();
  const server = await createMcpServer((tool, given) => {
    const call = () => callTool(tool, given, caller, platform);
    // They have one place among heavy requests, and so come one after the other.
    const called = laneOf(tool.operation) === 'light' ? call() : heavy.then(call);
    if (laneOf(tool.operation) !== 'light') heavy = called.catch(() => undefined);
    calls.push(called);
    return called;
  }, offered);
  try {
    await server.connect(transport);
    const headers = new Headers({
      'Content-Type': 'application/json',
      // Whatever is accepted, the answer is JSON.
      Accept: 'application/json, text/event-stream',
    });
    const version = ctx.get('mcp-protocol-version');
    if (version !== '') headers.set('Mcp-Protocol-Version', version);
    const request = new Request(`${platform.config.publicUrl}${paths.mcp}`, {
      method: 'POST',
      headers,
    });
    const response = await transport.handleRequest(request, { parsedBody: messages });
    const body = await response.text();
    if (body === '') ctx.body = null;
    else sendText(ctx, body);
    ctx.status = response.status;
  } finally {
    // Also what nobody waits for any more keeps the place of its request.
    await Promise.allSettled(calls);
    await server.close();
  }
}

/**
 * The MCP server (docs/decisions/0098): streamable HTTP without sessions. A token of an OAuth client,
 * or a user's own key or token, says for whom; without one, the answer says where to get one
 * (RFC 9728, section 5.1).
 */
export function mountMcp(router: Router, platform: Platform): void {
  router.all(paths.mcp, async (ctx: Context) => {
    const { publicUrl } = platform.config;
    const state = ctx.state as RequestState;
    checkOrigin(ctx, publicUrl);
    const metadata = `resource_metadata="${mcpMetadataUrl(publicUrlFor(publicUrl, ctx.host))}"`;
    const isTokenGiven = ctx.get('authorization') !== '';
    state.challenge = isTokenGiven ? `error="invalid_token", ${metadata}` : metadata;
    const identity = await identify(ctx, platform);
    state.tenantId = identity.tenantId;
    state.challenge = metadata;
    if (identity.accountId !== undefined) {
      throw problem.forbidden('The token of an embed is for requests of a browser, not for MCP.');
    }
    if (ctx.method !== 'POST') {
      // Without sessions there is nothing to listen to and nothing to end.
      ctx.set('Allow', 'POST');
      throw problem.methodNotAllowed(`There is no ${ctx.method} ${ctx.path}, but POST.`);
    }
    await answerInTurn(ctx, identity, platform);
  });
}
