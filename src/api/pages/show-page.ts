import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import type { Context } from 'koa';

const views = join(import.meta.dirname, '../views');
const eta = new Eta({ views, cache: true });
const readStyle = (name: string): string => readFileSync(join(views, name), 'utf8');
const style = readStyle('style.css');

interface Look {
  readonly style: string;
  readonly policy: string;
}

/**
 * Only the style of the page itself, and images as told: no script, no other origin, no frame.
 * Without `form-action`, because browsers apply it to the redirect after the form, too.
 */
const look = (of: string, images: string): Look => ({
  style: of,
  policy: [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(of).digest('base64')}'`,
    `img-src ${images}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
});

const card = look(style, 'data:');
const looks = {
  consent: card,
  front: card,
  missing: card,
  refusal: card,
  guide: look(style + readStyle('guide.css'), "'self' data:"),
} satisfies Readonly<Record<string, Look>>;

type View = keyof typeof looks;
type ViewData = { readonly title: string } & Readonly<Record<string, unknown>>;

/** A page of the folder `views`; `data` are its values, escaped where they are shown. */
export const renderPage = (view: View, data: ViewData): string =>
  eta.render(view, { ...data, style: looks[view].style });

/** Says what the browser may load for a page. */
export function protectPage(ctx: Context, view: View): void {
  ctx.set('Content-Security-Policy', looks[view].policy);
  // With no-referrer, browsers would send the form with the Origin null.
  ctx.set('Referrer-Policy', 'same-origin');
}

/** Answers with a page that is made for this request. */
export function showPage(ctx: Context, status: number, view: View, data: ViewData): void {
  protectPage(ctx, view);
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = renderPage(view, data);
}
