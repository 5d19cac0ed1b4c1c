import type Router from '@koa/router';
import type { Context } from 'koa';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Platform } from '../../process/platform.js';
import { showPage } from './show-page.js';

interface Link {
  readonly href: string;
  readonly name: string;
  readonly text: string;
}

const pages: readonly Link[] = [
  {
    href: '/console',
    name: 'Console',
    text: 'Accounts, invoices, receipts and usage, to be looked at.',
  },
  { href: '/docs', name: 'API documentation', text: 'Every operation, to be tried.' },
  { href: '/docs/guide', name: 'Guide', text: 'Concepts, prices, and the way to an invoice.' },
  { href: '/openapi.json', name: 'OpenAPI document', text: 'For generated clients.' },
  {
    href: '/readyz',
    name: 'Health',
    text: 'Whether database, Temporal, worker and broker answer.',
  },
];

/** What a person sees who opens the address of an instance: what runs here, and where to go on. */
export function mountFrontPage(router: Router, { temporal }: Platform): void {
  router.get('/', (ctx: Context) => {
    const served = pages.filter(({ href }) => router.match(href, 'GET').route);
    const { uiUrl } = temporal;
    const text = 'Every workflow with its history.';
    const workflows = uiUrl === null ? [] : [{ href: uiUrl, name: 'Temporal UI', text }];
    showPage(ctx, 200, 'front', {
      title: 'What runs here',
      version: packageJson.version,
      links: [...served, ...workflows],
    });
  });
}

/** Whether a browser asks for something to be looked at, and not a client of the API. */
export const isAskedForPage = (ctx: Context): boolean =>
  (ctx.method === 'GET' || ctx.method === 'HEAD') &&
  ctx.accepts('application/json', 'text/html') === 'text/html';

/**
 * Answers a browser whose address leads nowhere with a page; false: the caller is no browser, and gets
 * the error body of its API family.
 */
export function showMissingPage(ctx: Context): boolean {
  if (!isAskedForPage(ctx)) return false;
  ctx.vary('Accept');
  showPage(ctx, 404, 'missing', { title: 'There is nothing here', path: ctx.path });
  return true;
}
