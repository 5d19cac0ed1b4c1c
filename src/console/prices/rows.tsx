import type { ReactNode } from 'react';
import {
  isExactNumber,
  isNumberText,
  type ExactJson,
  type ExactNumber,
} from '../api/exact-json.ts';
import { Slider } from './slider.tsx';

/** Where a number stands in a card: names and places, from its rows down. */
type Path = readonly (string | number)[];

interface Rate {
  readonly path: Path;
  readonly value: ExactNumber;
}

/** Counted by the API, not chosen. */
const counted = new Set(['tierNum']);

/** Every number of a part of a card. */
function ratesIn(value: ExactJson | undefined, path: Path): Rate[] {
  if (value === undefined || value === null || typeof value !== 'object') return [];
  if (isExactNumber(value)) return counted.has(String(path.at(-1))) ? [] : [{ path, value }];
  return Object.entries(value).flatMap(([name, part]) =>
    ratesIn(part, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

/** The same with another number at a place. */
function withNumber(value: ExactJson, [first, ...rest]: Path, text: string): ExactJson {
  if (first === undefined) return { '#': text };
  if (Array.isArray(value)) {
    return (value as readonly ExactJson[]).map((part, index) =>
      index === first ? withNumber(part, rest, text) : part,
    );
  }
  const members = value as { readonly [name: string]: ExactJson };
  return { ...members, [first]: withNumber(members[first] ?? null, rest, text) };
}

/** Whether every number of a card is one. */
export const areRates = (rows: readonly ExactJson[]): boolean =>
  ratesIn(rows, []).every(({ value }) => isNumberText(value['#']));

/** `['rateCardTiers', 0, 'tierUnitRate']` as `tier 1, unit rate`. */
const nameOf = (path: Path): string =>
  path
    .map((part) =>
      typeof part === 'number'
        ? String(part + 1)
        : part
            .replace(/^rateCardTiers$/, 'tier')
            .replace(/^tier(?=[A-Z])/, '')
            .replace(/Val$/, '')
            .replace(/([a-z])([A-Z])/g, '$1 $2')
            .toLowerCase(),
    )
    .join(' ');

/** How the API calls a number of a row: `rows[0].rateCardTiers[1].tierUnitRate`. */
const fieldOf = (row: number, path: Path): string =>
  `rows${[row, ...path].map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')}`;

const labelOf = (row: ExactJson): string =>
  typeof row === 'object' && row !== null && 'label' in row && typeof row.label === 'string'
    ? row.label
    : 'Row';

/** What a price is; bounds of tiers and sizes of packages are no prices. */
const isPrice = (path: Path): boolean => /rate$/i.test(String(path.at(-1)));

const numberAt = (row: ExactJson | undefined, path: Path): string | undefined =>
  ratesIn(row, []).find((rate) => rate.path.join(' ') === path.join(' '))?.value['#'];

/** What stands in a line of its own: a tier, and what is in none. */
function linesOf(row: ExactJson): readonly (readonly Rate[])[] {
  const lines = new Map<string, Rate[]>();
  for (const rate of ratesIn(row, [])) {
    const [list, place] = rate.path;
    const line = list === 'rateCardTiers' ? String(place) : '';
    lines.set(line, [...(lines.get(line) ?? []), rate]);
  }
  return [...lines.values()];
}

/** A number of a row to change: as it is written, a price by a slider, too. */
function RateField({
  name,
  of: { path, value },
  row,
  inForce,
  onChange,
}: {
  readonly name: string;
  readonly of: Rate;
  readonly row: ExactJson;
  readonly inForce: ExactJson | undefined;
  readonly onChange: (text: string) => void;
}): ReactNode {
  return (
    <div className="rate">
      <label>
        <span>
          {/* For eyes the legend says it once. */}
          <span className="heard">{labelOf(row)}: </span>
          {nameOf(path)}
        </span>
        <input
          name={name}
          inputMode="decimal"
          value={value['#']}
          aria-invalid={!isNumberText(value['#'])}
          onChange={({ target }) => onChange(target.value.trim())}
        />
      </label>
      {isPrice(path) ? (
        <Slider
          label={`${labelOf(row)}: ${nameOf(path)}`}
          inForce={numberAt(inForce, path) ?? ''}
          value={value['#']}
          onChange={onChange}
        />
      ) : null}
    </div>
  );
}

/** The rows of a card with their numbers to change, tier by tier. */
export const Rows = ({
  rows,
  inForce,
  onChange,
}: {
  readonly rows: readonly ExactJson[];
  /** The same card as it is in force. */
  readonly inForce: readonly ExactJson[];
  readonly onChange: (rows: readonly ExactJson[]) => void;
}): ReactNode =>
  rows.map((row, at) => {
    const change = (path: Path, text: string): void =>
      onChange(rows.map((one, index) => (index === at ? withNumber(one, path, text) : one)));
    return (
      <fieldset key={at}>
        <legend>
          <bdi>{labelOf(row)}</bdi>
        </legend>
        {linesOf(row).map((line, place) => (
          <div key={place} className="fields">
            {line.map((rate) => (
              <RateField
                key={rate.path.join(' ')}
                name={fieldOf(at, rate.path)}
                of={rate}
                row={row}
                inForce={inForce[at]}
                onChange={(text) => change(rate.path, text)}
              />
            ))}
          </div>
        ))}
      </fieldset>
    );
  });
