import { useNavigate, useSearch } from '@tanstack/react-router';

/** Pages by the names of their lists, as the address has them: `contracts.1_timeline.2`. */
function placesIn(text: string): Map<string, number> {
  const places = new Map<string, number>();
  for (const part of text.split('_')) {
    const end = part.lastIndexOf('.');
    const page = Number(part.slice(end + 1));
    if (end > 0 && Number.isSafeInteger(page) && page > 0) places.set(part.slice(0, end), page);
  }
  return places;
}

/** The same address with another page of a list. */
export function withPlace<S extends { readonly pages?: string }>(
  { pages, ...rest }: S,
  list: string,
  page: number,
) {
  const places = placesIn(pages ?? '');
  if (page === 0) places.delete(list);
  else places.set(list, page);
  const text = [...places].map((place) => place.join('.')).join('_');
  return { ...rest, ...(text === '' ? {} : { pages: text }) };
}

/** Which page of one of a record's lists is shown, and the way to its others: its address has `pages`. */
export function usePlace(list: string): readonly [page: number, onMove: (page: number) => void] {
  const { pages = '' } = useSearch({ strict: false });
  const navigate = useNavigate();
  return [
    placesIn(pages).get(list) ?? 0,
    (page) =>
      void navigate({
        to: '.',
        search: (before) => withPlace(before, list, page),
        // The list is one of many: it stays where it is looked at.
        resetScroll: false,
      }),
  ];
}
