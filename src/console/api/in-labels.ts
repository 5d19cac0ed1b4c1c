import { useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { ApiProblem } from './problem.ts';

/** A name of the API in a message: `'periodEnd'`, `'rows[0].tierUnitRate'`. */
const quoted = /'([A-Za-z][\w.[\]]*)'/g;

const labelOf = (field: HTMLInputElement): string | undefined =>
  field.labels?.[0]?.firstElementChild?.textContent?.trim() || undefined;

/**
 * The label of the field that a name of the API is written in: the nearest one, of several that have the
 * name or end of it; undefined: the page has none.
 */
function labelNear(place: Element | null, path: string): string | undefined {
  for (let around = place; around !== null; around = around.parentElement) {
    const fields = [...around.querySelectorAll<HTMLInputElement>('label [name]')];
    const named = fields
      .filter(({ name }) => path === name || path.endsWith(`.${name}`))
      .sort((a, b) => b.name.length - a.name.length);
    const label = named.map(labelOf).find((text) => text !== undefined);
    if (label !== undefined) return label;
  }
  return undefined;
}

/** What an error says, with the labels of the fields around in place of the names of the API. */
export function useInLabels(error: unknown): {
  readonly place: RefObject<HTMLParagraphElement | null>;
  readonly text: string;
} {
  const place = useRef<HTMLParagraphElement>(null);
  const said = error instanceof Error ? error.message : String(error);
  const [text, setText] = useState(said);
  useLayoutEffect(() => {
    const value = error instanceof ApiProblem ? error.value : undefined;
    setText(
      said.replace(quoted, (whole, path: string) => {
        // What somebody wrote stays as it is.
        const label = path === value ? undefined : labelNear(place.current, path);
        return label === undefined ? whole : `“${label}”`;
      }),
    );
  }, [error, said]);
  return { place, text };
}
