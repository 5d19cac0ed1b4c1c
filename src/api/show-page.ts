import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import type { Context } from 'koa';

const views = join(import.meta.dirname, 'views');
const eta = new Eta({ views, cache: true });
const style = readFileSync(join(views, 'style.css'), 'utf8');

/**
 * Only the style of the page itself: no script, no image, no other origin, no frame. Without
 * `form-action`, because browsers apply it to the redirect after the form, too.
 */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Answers with a page of the folder `views`; `data` are its values, escaped where they are shown. */
export function showPage(
  ctx: Context,
  status: number,
  view: 'consent' | 'front' | 'missing' | 'refusal',
  data: { readonly title: string } & Readonly<Record<string, unknown>>,
): void {
  ctx.set('Content-Security-Policy', policy);
  // With no-referrer, browsers would send the form with the Origin null.
  ctx.set('Referrer-Policy', 'same-origin');
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = eta.render(view, { ...data, style });
}
