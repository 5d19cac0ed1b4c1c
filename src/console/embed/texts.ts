import type { texts as english } from './texts/en.ts';

/** What a page says, by its names. A language without one of them does not compile. */
export type Texts = { readonly [N in keyof typeof english]: string };

/** The languages, each with its own file, which is loaded where it is asked for. */
export const languages = {
  en: { name: 'English', load: () => import('./texts/en.js') },
  de: { name: 'Deutsch', load: () => import('./texts/de.js') },
  es: { name: 'Español', load: () => import('./texts/es.js') },
  fr: { name: 'Français', load: () => import('./texts/fr.js') },
  ja: { name: '日本語', load: () => import('./texts/ja.js') },
  ar: { name: 'العربية', load: () => import('./texts/ar.js') },
} as const;

export type Language = keyof typeof languages;

export const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name);

export const directionOf = (language: Language): 'ltr' | 'rtl' =>
  language === 'ar' ? 'rtl' : 'ltr';

/** A text with its values in place of their names. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);

/** The language of an embed: the one asked for, else the first of the browser that there is. */
export function languageOf(asked: string | null, preferred: readonly string[]): Language {
  const names = [...(asked === null ? [] : [asked]), ...preferred];
  const found = names.map((name) => name.toLowerCase().split('-')[0] ?? '').find(isLanguage);
  return found ?? 'en';
}
