import type { KeptRow } from './result.js';

const width = 1040;
const labels = 320;
const rowHeight = 26;
const barHeight = 18;
const top = 46;
/** Where the aim is drawn, and the most that is shown of a row that is beyond it. */
const aimAt = 300;
const shownMax = 1.6;

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${x}" y="${y}"${more}>${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;

/** How much of its aim a row reaches, 1 where it is just reached. */
export function shareOfAim({ aim, unit, ratio, value }: KeptRow): number {
  const [, relation = '', limit = '', limitUnit = ''] = /^(<=|>=) ([\d.]+)( ms)?/.exec(aim) ?? [];
  const measured = limitUnit.trim() === unit ? value : ratio;
  return relation === '>=' ? measured / Number(limit) : Number(limit) / measured;
}

const lengthOf = (row: KeptRow): number => Math.round(Math.min(shareOfAim(row), shownMax) * aimAt);

/** The rows as bars against the aim of each, as SVG. A row with two aims is drawn by its ratio. */
export function drawChart(rows: readonly KeptRow[]): string {
  const ids = [...new Set(rows.map(({ id }) => id))];
  const ordered = ids.flatMap((id) =>
    rows.filter((row) => row.id === id).sort((a, b) => a.transactions - b.transactions),
  );
  const height = top + ordered.length * rowHeight + 16;
  const bars = ordered.map((row, index) => {
    const y = top + index * rowHeight;
    const length = lengthOf(row);
    const size = row.transactions.toLocaleString('en');
    return [
      text(labels - 8, y + 13, `${row.id}, ${size}`, ' text-anchor="end"'),
      `<rect x="${labels}" y="${y}" width="${length}" height="${barHeight}" fill="${row.isReached ? '#2f7d4f' : '#c2572b'}"/>`,
    ].join('\n');
  });
  // Above the line of the aim, which does not run through them.
  const figures = ordered.map((row, index) => {
    const figure =
      row.value >= 100 ? Math.round(row.value).toLocaleString('en') : row.value.toFixed(1);
    return text(
      labels + lengthOf(row) + 6,
      top + index * rowHeight + 13,
      `${figure} ${row.unit}, ${row.ratio.toFixed(2)} (${row.aim})`,
      ' stroke="#fff" stroke-width="4" paint-order="stroke"',
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12" fill="#222">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(8, 18, 'Share of the aim that each row reaches; the line is the aim', ' font-size="14"'),
    text(
      8,
      34,
      'row, rated transactions of the tenant: figure, ratio to its floor (aim)',
      ' fill="#666"',
    ),
    ...bars,
    `<line x1="${labels + aimAt}" x2="${labels + aimAt}" y1="${top - 6}" y2="${height - 10}" stroke="#222" stroke-dasharray="4 3"/>`,
    ...figures,
    '</svg>',
    '',
  ].join('\n');
}
