import { useQueries, type QueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { account, service } from '../accounts/queries.ts';
import { toneClass, tones, type Bar } from '../charts/bars.tsx';
import { moneyText } from '../shown/format.ts';
import { sumText } from './sum-text.ts';

type Total = Schemas['UsageTotal'];

/** The groups that a chart tells apart: each with its name, and its colour by its place. */
export interface Groups {
  readonly own: ReadonlyMap<string, { readonly name: string; readonly tone: number }>;
  /** How many there are beside them, which are shown as one. */
  readonly others: number;
}

const valueOf = ({ group }: Total): string => Object.values<string | null>(group)[0] ?? '';

/** As many as have a colour; of more the largest, and a colour is left for all others together. */
function largest(rows: readonly Total[]): { own: string[]; others: number } {
  const sizes = new Map<string, number>();
  for (const row of rows) {
    const value = valueOf(row);
    sizes.set(value, (sizes.get(value) ?? 0) + Math.abs(Number(row.amount)));
  }
  if (sizes.size <= tones) return { own: [...sizes.keys()], others: 0 };
  const bySize = [...sizes].sort(([, one], [, other]) => other - one).map(([value]) => value);
  return { own: bySize.slice(0, tones - 1), others: sizes.size - tones + 1 };
}

/** Accounts and services have names of their own, whatever else groups is one. */
export function useGroups(rows: readonly Total[], groupBy: string | undefined): Groups {
  const { own, others } = groupBy ? largest(rows) : { own: [], others: 0 };
  const names = useQueries({
    queries: own.map((value) => ({
      queryKey: ['name of group', groupBy, value],
      staleTime: 60_000,
      queryFn: async ({ client }: { readonly client: QueryClient }) =>
        value === ''
          ? 'none'
          : groupBy === 'account'
            ? ((await client.ensureQueryData(account(value))).Name ?? value)
            : groupBy === 'service'
              ? (await client.ensureQueryData(service(value))).name
              : value,
    })),
  });
  const named = own.map((value, tone) => [value, { name: names[tone]?.data ?? value, tone }]);
  return { own: new Map(named as [string, { name: string; tone: number }][]), others };
}

const othersTone = tones - 1;
const othersText = (count: number): string => `${count} others`;

/** What the colours of a chart mean. */
export const Legend = ({ groups: { own, others } }: { readonly groups: Groups }): ReactNode => (
  <ul className="legend" aria-label="Colours">
    {[...own].map(([value, { name, tone }]) => (
      <li key={value}>
        <span className={`dot ${toneClass(tone)}`} aria-hidden="true" /> <bdi>{name}</bdi>
      </li>
    ))}
    {others === 0 ? null : (
      <li>
        <span className={`dot ${toneClass(othersTone)}`} aria-hidden="true" /> {othersText(others)}
      </li>
    )}
  </ul>
);

const partOf = (name: string, tone: number, rows: readonly Total[]): Bar['parts'][number] => {
  const amount = sumText(rows.map((row) => row.amount));
  return { name, tone, text: moneyText(amount, rows[0]?.currency ?? ''), length: Number(amount) };
};

const nothing = { name: 'nothing', text: '', length: 0, tone: 'muted' } as const;

/** The rows of one bucket as a bar: its groups above each other, and above them what the others come to. */
export function barOf(name: string, rows: readonly Total[], { own }: Groups): Bar {
  if (rows.length === 0) return { name, parts: [nothing] };
  if (own.size === 0) return { name, parts: [partOf('', 0, rows)] };
  const total = partOf('', 0, rows).text;
  const others = rows.filter((row) => !own.has(valueOf(row)));
  const parts = rows.flatMap((row) => {
    const group = own.get(valueOf(row));
    return group ? [partOf(group.name, group.tone, [row])] : [];
  });
  return others.length === 0
    ? { name, total, parts }
    : { name, total, parts: [...parts, partOf(othersText(others.length), othersTone, others)] };
}
