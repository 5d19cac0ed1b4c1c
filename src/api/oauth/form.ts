import type { Context } from 'koa';
import { readBodyText } from '../server/read-body.js';
import { oauthFault } from './oauth-fault.js';

const formMax = 64 * 1024;

/** The parameters of a form, by name. */
export type Form = ReadonlyMap<string, string>;

/**
 * The form that a request holds (RFC 6749, section 3.2). 400: it is no form, or a parameter comes
 * twice; an empty one counts as left out.
 */
export async function readForm(ctx: Context): Promise<Form> {
  if (ctx.is('application/x-www-form-urlencoded') === false) {
    const message = 'The Content-Type must be application/x-www-form-urlencoded.';
    throw oauthFault('invalid_request', message);
  }
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(await readBodyText(ctx, formMax))) {
    if (form.has(name)) throw oauthFault('invalid_request', `'${name}' is given twice`, name);
    form.set(name, value);
  }
  for (const [name, value] of form) if (value === '') form.delete(name);
  return form;
}

/** A parameter that a request cannot do without. 400 `invalid_request`: it is not there. */
export function required(form: Form, name: string): string {
  const value = form.get(name);
  if (value === undefined) throw oauthFault('invalid_request', `'${name}' is required`, name);
  return value;
}
