import type { FilterField } from '../shown/filters.tsx';

/** A day, or an instant where the address has one. */
export const timeField = (name: string, label: string, value: string): FilterField => ({
  name,
  label,
  value,
  type: value.includes('T') ? 'text' : 'date',
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
