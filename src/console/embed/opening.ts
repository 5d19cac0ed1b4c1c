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

/** A page of the embed, or a record of it. */
export interface View {
  readonly page: (typeof pages)[number];
  readonly id: string | undefined;
}

/** `/invoices/0193…` as a view; what is none is the first page. */
export function viewOf(path: string): View {
  const [, name, id = ''] = path.split('/');
  const page = pages.find((one) => one === name) ?? 'usage';
  return { page, id: id === '' || page === 'usage' ? undefined : decodeURIComponent(id) };
}

export const pathOf = ({ page, id }: View): string =>
  `#/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

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
