import {
  useEffect,
  useId,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
} from 'react';

/** Which of the colours something has, or what it means. */
type Tone = number | 'good' | 'bad' | 'muted';

/** What a bar is made of, from the bottom; `length` is for drawing alone. */
export interface Bar {
  readonly name: string;
  /** What several parts come to. */
  readonly total?: string;
  readonly parts: readonly {
    readonly name: string;
    readonly text: string;
    readonly length: number;
    readonly tone: Tone;
  }[];
}

const width = 1_000;
const height = 240;
/** Colours, and the same once more in stripes. */
const colours = [0, 1, 2, 3] as const;
/** What groups are told apart by. */
export const tones = 2 * colours.length;
/** Few bars are no wider than where there were so many. */
const fewest = 12;

export const toneClass = (tone: Tone): string =>
  typeof tone === 'number' ? `tone-${tone % tones}` : `fill-${tone}`;

const moves: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowLeft: (at) => Math.max(0, at - 1),
  ArrowRight: (at, last) => Math.min(last, at + 1),
  Home: () => 0,
  End: (_at, last) => last,
};

const wordsOf = ({ name, parts }: Bar): string =>
  `${name}: ${parts.map((part) => [part.name, part.text].filter(Boolean).join(' ')).join('; ')}`;

const sumOf = ({ parts }: Bar): number => parts.reduce((sum, { length }) => sum + length, 0);

/** The one that is as high as the chart. */
const highestOf = (bars: readonly Bar[]): Bar =>
  bars.toSorted((a, b) => sumOf(b) - sumOf(a))[0] ?? { name: '', parts: [] };

/** What is said of the highest: of many parts, only where it is. */
const placeOf = (bar: Bar): string => (bar.parts.length > 1 ? bar.name : wordsOf(bar));

/** What the top of the chart stands for. */
const Scale = ({ highest: { total, parts } }: { readonly highest: Bar }): ReactNode => (
  <p className="scale" aria-hidden="true">
    {total ?? (parts.length === 1 ? parts[0]?.text : null)}
  </p>
);

/** What fills the tones that have stripes; they lie along the bars' width, to which a drawing is stretched. */
const Stripes = ({ id }: { readonly id: string }): ReactNode => (
  <defs>
    {colours.map((tone) => (
      <pattern key={tone} id={id + tone} patternUnits="userSpaceOnUse" width="8" height="8">
        <rect className={toneClass(tone)} width="8" height="5" />
      </pattern>
    ))}
  </defs>
);

const stripesOf = (tone: Tone, id: string): string | undefined =>
  typeof tone === 'number' && tone >= colours.length
    ? `url(#${id}${tone - colours.length})`
    : undefined;

interface Drawn {
  readonly bar: Bar;
  readonly at: number;
  readonly most: number;
  readonly of: number;
  readonly stripes: string;
}

function Column({ bar, at, most, of, stripes }: Drawn) {
  const step = width / of;
  let below = 0;
  return (
    <g>
      {bar.parts.map(({ name, length, tone }, index) => {
        const size = (height * Math.max(0, length)) / most;
        below += size;
        return (
          <rect
            key={`${name} ${index}`}
            className={toneClass(tone)}
            fill={stripesOf(tone, stripes)}
            x={at * step + step * 0.1}
            width={step * 0.8}
            y={height - below}
            height={size}
          />
        );
      })}
    </g>
  );
}

/** What the chart says of itself, in English unless a page has another language. */
const english = {
  howToMove: (name: string): string => `${name}: arrow keys go from bar to bar`,
  fromTo: (first: string, last: string, highest: string): string =>
    `${first} to ${last}; the highest is ${highest}. Arrow keys or the pointer show a bar.`,
};

/** The bars between two, with both, from the left. */
type Range = readonly [first: number, last: number];

const rangeOf = (one: number | undefined, other: number | undefined): Range | undefined =>
  one === undefined || other === undefined || one === other
    ? undefined
    : [Math.min(one, other), Math.max(one, other)];

/** Of several bars, what is done with them; only the console has a use for several. */
const said = (range: Range | undefined, bars: readonly Bar[]): string | undefined =>
  range &&
  `${bars[range[0]]?.name ?? ''} to ${bars[range[1]]?.name ?? ''} are chosen: Enter shows these alone.`;

const isIn = (range: Range | undefined, at: number): boolean =>
  range !== undefined && at >= range[0] && at <= range[1];

/** As long as a cursor stands still before its bar is said. */
const restMs = 500;

/** A text once it has stayed the same for a while: of what a cursor passes nothing is said. */
function useRested(text: string): string {
  const [rested, setRested] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

interface Doing {
  /** What the enter key, or a click, does with a bar. */
  readonly onChoose?: ((index: number) => void) | undefined;
  /** What they do with several. */
  readonly onZoom?: ((first: number, last: number) => void) | undefined;
}

/** Where the cursor is, what is chosen, and what keys and the pointer do. */
function useCursor(last: number, { onChoose, onZoom }: Doing) {
  const [cursor, setCursor] = useState<number>();
  /** The other end of what is chosen. */
  const [begin, setBegin] = useState<number>();
  const [isByKey, setIsByKey] = useState(false);
  const zoomTo = (at: number): void => {
    const drawn = rangeOf(begin, at);
    setBegin(undefined);
    if (!drawn || !onZoom) return;
    setCursor(undefined);
    onZoom(...drawn);
  };
  const range = onZoom && rangeOf(begin, cursor);
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = moves[event.key];
    if (event.key === 'Enter' && cursor !== undefined) {
      if (range) zoomTo(cursor);
      else onChoose?.(cursor);
    }
    if (!move) return;
    event.preventDefault();
    setIsByKey(true);
    setBegin(event.shiftKey ? (begin ?? cursor) : undefined);
    setCursor(move(cursor ?? (event.key === 'ArrowLeft' ? last + 1 : -1), last));
  };
  /** What the pointer does over a bar. */
  const pointed = (at: number) => ({
    // Moved there by somebody: a page that is drawn under a pointer that rests enters it, too.
    onPointerMove: ({ movementX, movementY }: PointerEvent) => {
      if (movementX === 0 && movementY === 0) return;
      setIsByKey(false);
      setCursor(at);
    },
    onPointerDown: () => {
      // A finger moves nothing before.
      setIsByKey(false);
      setCursor(at);
      setBegin(at);
    },
    onPointerUp: () => zoomTo(at),
    onClick: () => onChoose?.(at),
  });
  return { cursor, range, isByKey, onKeyDown, pointed };
}

/** From which bar to which; of few their words say it. */
const Axis = ({ bars, of }: { readonly bars: readonly Bar[]; readonly of: number }): ReactNode =>
  bars.length < fewest / 2 ? null : (
    <div className="axis" aria-hidden="true" style={{ width: `${(100 * bars.length) / of}%` }}>
      <span>{bars[0]?.name}</span>
      <span>{bars[bars.length - 1]?.name}</span>
    </div>
  );

/**
 * Bars over time. Arrow keys and the pointer move a cursor, which is said in words, aloud where keys have
 * moved it and it rests; the same figures are in a table beside it, which the page shows. Several are chosen with the shift key, or by drawing the
 * pointer over them.
 */
export function Bars({
  name,
  bars,
  words = english,
  ...doing
}: Doing & {
  readonly name: string;
  readonly bars: readonly Bar[];
  readonly words?: typeof english;
}): ReactNode {
  const last = bars.length - 1;
  const stripes = useId();
  const { cursor, range, isByKey, onKeyDown, pointed } = useCursor(last, doing);
  const highest = highestOf(bars);
  const most = sumOf(highest) || 1;
  // Of one bar there is nothing to choose.
  const chosen = bars[cursor ?? (last === 0 ? 0 : -1)];
  const told = said(range, bars) ?? (chosen && wordsOf(chosen));
  const heard = useRested(isByKey && told !== undefined ? told : '');
  const slots = Math.max(fewest, bars.length);
  const step = width / slots;
  return (
    <figure aria-label={name}>
      <Scale highest={highest} />
      <div
        role="slider"
        aria-label={words.howToMove(name)}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={cursor ?? 0}
        // At once where the cursor is; what the bar has is said once it rests there.
        aria-valuetext={(chosen ?? bars[0])?.name ?? ''}
        tabIndex={0}
        className="chart"
        onKeyDown={onKeyDown}
      >
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <Stripes id={stripes} />
          {bars.map((bar, at) => (
            <Column key={at} bar={bar} at={at} most={most} of={slots} stripes={stripes} />
          ))}
          {bars.map((_bar, at) => (
            <rect
              key={at}
              className={at === cursor || isIn(range, at) ? 'cursor' : 'reach'}
              x={at * step}
              width={step}
              y="0"
              height={height}
              {...pointed(at)}
            />
          ))}
        </svg>
        <Axis bars={bars} of={slots} />
      </div>
      <figcaption>
        {told ?? words.fromTo(bars[0]?.name ?? '', bars[last]?.name ?? '', placeOf(highest))}
      </figcaption>
      <p role="status" className="heard">
        {heard}
      </p>
    </figure>
  );
}
