import type { FilterField } from '../shown/filters.tsx';

/** A day, or an instant where the address has one or days are too long. */
export const timeField = (
  name: string,
  label: string,
  value: string,
  isInstant = value.includes('T'),
): FilterField => ({
  name,
  label,
  value,
  type: isInstant ? 'text' : 'date',
  hint: '2026-03-08T10:00:00Z',
});

/** The services that there are to choose from, and the one that is chosen. */
export function serviceField(
  name: string,
  value: string,
  known: readonly { readonly Id: string; readonly Name: string }[] = [],
): FilterField {
  const options = known.map(({ Id, Name }) => [Id, Name] as const);
  const isKnown = value === '' || options.some(([id]) => id === value);
  const chosen = isKnown ? [] : [[value, value] as const];
  return { name, label: 'Service', value, options: [['', 'All'], ...options, ...chosen] };
}

/** `2026-03-08 10:00`, as tables have it, as the API takes it; any other text as it is. */
export const instantIn = (text: string): string =>
  text.replace(
    /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d)?( ?UTC|Z)?$/,
    (_all, day: string, minute: string, second = ':00') => `${day}T${minute}${second}Z`,
  );
