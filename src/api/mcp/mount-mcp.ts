import type Router from '@koa/router';
import type { Context } from 'koa';
import { problem } from '../../kernel/problem.js';
import type { Platform } from '../../platform/platform.js';
import { publicUrlFor, publicUrls } from '../../platform/public-url.js';
import { identify, type RequestState } from '../mount.js';
import { mcpMetadataUrl, paths } from '../oauth/metadata.js';

/** Pages of other origins have no business here (MCP 2025-11-25, "Security Warning"). */
function checkOrigin(ctx: Context, publicUrl: string): void {
  const origin = ctx.get('origin');
  if (origin !== '' && !publicUrls(publicUrl).some((one) => new URL(one).origin === origin)) {
    throw problem.forbidden('Pages of other origins may not call this server.');
  }
}

/**
 * The MCP server (issue 7, deliver 4): streamable HTTP without sessions. A token of an OAuth client,
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
    state.challenge = metadata;
    if (ctx.method !== 'POST') {
      // Without sessions there is nothing to listen to and nothing to end.
      ctx.set('Allow', 'POST');
      throw problem.methodNotAllowed(`There is no ${ctx.method} ${ctx.path}, but POST.`);
    }
    // Read on the first message: the SDK's modules would make every start half a second slower.
    const { answerMessages } = await import('./answer-messages.js');
    await answerMessages(ctx, identity, platform);
  });
}
