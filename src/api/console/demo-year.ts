import type Router from '@koa/router';
import type { Context } from 'koa';
import { allowsScope } from '../../kernel/oauth-scope.js';
import { problem } from '../../kernel/problem.js';
import type { Identity } from '../../access/authenticate.js';
import type { Platform } from '../../process/platform.js';
import { isUnused } from '../../queries/access/unused-tenant.js';
import { identify, type RequestState } from '../mount-operations.js';
import { scopeOf } from '../request/request-scope.js';
import { stringifyJson } from '../server/unstorable-text.js';

/** How far a year is. */
export interface YearProgress {
  readonly accepted: number;
  /** Rated or rejected. */
  readonly processed: number;
  readonly events: number;
  readonly billedMonths: number;
  readonly months: number;
}

/**
 * Fills the tenant of a token with customers and a year of usage, as `durabill demo --year` does. Whoever
 * starts the process gives it, where it is a personal machine (docs/decisions/0463).
 */
export type FillYear = (
  token: string,
  onProgress: (progress: YearProgress) => void,
) => Promise<void>;

type Filling =
  | { readonly status: 'running'; readonly progress: YearProgress | null }
  | { readonly status: 'done' }
  | { readonly status: 'failed'; readonly reason: string };

export const demoYearPath = '/console/demo-year';

/** Who may: whatever is made needs the role and the scope. */
const isAllowed = ({ roles, grant, accountId }: Identity): boolean =>
  roles.includes('ADMIN') &&
  accountId === undefined &&
  (grant === undefined || allowsScope(grant.scopes, 'mcp:write'));

/**
 * What a person sees who comes first: an unused tenant can be filled with a year of history by a button
 * (spec/beyond.md R433). `GET` says whether, and how far it is; `POST` begins.
 */
export function mountDemoYear(
  router: Router,
  platform: Platform,
  fill: FillYear | undefined,
): void {
  /** By tenant; a process that is started anew has forgotten it. */
  const fillings = new Map<string, Filling>();

  const begin = (tenantId: string, token: string, start: FillYear): void => {
    fillings.set(tenantId, { status: 'running', progress: null });
    start(token, (progress) => fillings.set(tenantId, { status: 'running', progress })).then(
      () => fillings.set(tenantId, { status: 'done' }),
      (error: unknown) => {
        platform.log.warn({ err: error, tenantId }, 'the year of the demo was not made');
        const reason = error instanceof Error ? error.message : String(error);
        fillings.set(tenantId, { status: 'failed', reason });
      },
    );
  };

  const isOffered = async (ctx: Context, identity: Identity): Promise<boolean> =>
    fill !== undefined &&
    isAllowed(identity) &&
    (await isUnused(await scopeOf(identity, (ctx.state as RequestState).ids, platform)));

  const answer = (ctx: Context, status: number, body: object): void => {
    ctx.status = status;
    ctx.type = 'application/json; charset=utf-8';
    ctx.body = stringifyJson(body);
  };

  router.get(demoYearPath, async (ctx: Context) => {
    const identity = await identify(ctx, platform);
    const filling = isAllowed(identity) ? fillings.get(identity.tenantId) : undefined;
    const status = (await isOffered(ctx, identity)) ? 'offered' : 'none';
    answer(ctx, 200, filling ?? { status });
  });

  router.post(demoYearPath, async (ctx: Context) => {
    const identity = await identify(ctx, platform);
    const { tenantId } = identity;
    if (fill === undefined) throw problem.notFound('This instance makes no demo.');
    if (!isAllowed(identity)) throw problem.forbidden('The role ADMIN is required.');
    const isFree = await isOffered(ctx, identity);
    if (fillings.has(tenantId) || !isFree) {
      throw problem.conflict(`The tenant '${tenantId}' is used already.`);
    }
    begin(tenantId, ctx.get('authorization').replace(/^Bearer +/i, ''), fill);
    answer(ctx, 202, fillings.get(tenantId) ?? {});
  });
}
