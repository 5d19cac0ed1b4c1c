import { createContext, useContext, type ReactNode } from 'react';
import type { Formats } from './formats.ts';
import type { Texts } from './texts.ts';

/** The language of the page: its texts, and how it writes figures and dates. */
export interface Spoken {
  readonly texts: Texts;
  readonly formats: Formats;
}

const SpokenContext = createContext<Spoken | undefined>(undefined);

export const SpokenProvider = SpokenContext.Provider;

export function useSpoken(): Spoken {
  const spoken = useContext(SpokenContext);
  if (spoken === undefined) throw new TypeError('No language was given.');
  return spoken;
}

/** Where there is nothing, for eyes and ears. */
export function None(): ReactNode {
  const { texts } = useSpoken();
  return (
    <span className="muted">
      <span aria-hidden="true">–</span>
      <span className="heard">{texts.none}</span>
    </span>
  );
}

/** Statuses of the API by the names of their texts. */
const statuses: Readonly<Record<string, readonly [keyof Texts, string]>> = {
  Draft: ['statusDraft', 'open'],
  Posted: ['statusPosted', ''],
  Void: ['statusVoid', 'bad'],
  Unpaid: ['statusUnpaid', 'open'],
  'Partially Paid': ['statusPartiallyPaid', 'open'],
  Paid: ['statusPaid', 'good'],
  pending: ['statusPending', 'open'],
  rated: ['statusRated', 'good'],
  rejected: ['statusRejected', 'bad'],
  duplicate: ['statusDuplicate', ''],
  canceled: ['statusCanceled', ''],
};

export function Status({ name }: { readonly name: string }): ReactNode {
  const { texts } = useSpoken();
  const [text, tone] = statuses[name] ?? [];
  return <span className={`status ${tone ?? ''}`}>{text === undefined ? name : texts[text]}</span>;
}
