import { accentOf } from './accent.js';
import { languageOf, type Language } from './texts.js';

/** What an address opens an embed with, behind its `#`. */
export interface Opening {
  readonly token: string | undefined;
  readonly language: Language;
  readonly theme: 'system' | 'light' | 'dark';
  readonly accent: { readonly light: string; readonly dark: string } | undefined;
  readonly view: View;
}

export const pages = ['usage', 'invoices', 'receipts'] as const;

/** The usage of a service in some days, the last one among them. */
export interface UsageOf {
  readonly serviceId: string;
  readonly from: string;
  readonly to: string;
}

/** A page of the embed, a record of it, or the receipts of some usage. */
export interface View {
  readonly page: (typeof pages)[number];
  readonly id: string | undefined;
  readonly of?: UsageOf;
}

/** `/invoices/0193…` or `/receipts/of/0193…/2026-03-01/2026-03-31` as a view; what is none is the first page. */
export function viewOf(path: string): View {
  const [, name, id = '', ...rest] = path.split('/');
  const page = pages.find((one) => one === name) ?? 'usage';
  const [serviceId, from, to] = rest.map(decodeURIComponent);
  if (page === 'receipts' && serviceId && from && to) {
    return { page, id: undefined, of: { serviceId, from, to } };
  }
  return { page, id: id === '' || page === 'usage' ? undefined : decodeURIComponent(id) };
}

export const pathOf = ({ page, id, of }: View): string => {
  const parts = of ? ['of', of.serviceId, of.from, of.to] : id === undefined ? [] : [id];
  return `#/${[page, ...parts.map(encodeURIComponent)].join('/')}`;
};

/** Reads `#token=…&language=ar&theme=dark&accent=0a7d55&page=invoices`. */
export function readOpening(fragment: string, preferred: readonly string[]): Opening {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  const theme = given.get('theme');
  return {
    token: given.get('token') ?? undefined,
    language: languageOf(given.get('language'), preferred),
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    accent: accentOf(given.get('accent')),
    view: viewOf(`/${given.get('page') ?? ''}`),
  };
}
