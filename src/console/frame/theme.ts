export type Theme = 'system' | 'light' | 'dark';

const place = 'durabill.theme';

/** What somebody chose; storage may be refused to a page. */
export function chosenTheme(): Theme {
  try {
    const stored = localStorage.getItem(place);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}

export function chooseTheme(theme: Theme): void {
  applyTheme(theme);
  try {
    localStorage.setItem(place, theme);
  } catch {
    // It holds until the page is closed.
  }
}
