import {
  kindOf,
  type SwitchCase,
  type Task,
  type TaskList,
} from '../../../messages/definitions/definition.js';
import { arrow, fitted, frame, line, textAt, type Block } from './block.js';
import { caseWords, sideWords, taskWords } from './words.js';

const boxWidth = 230;
const rowHeight = 16;
const inset = 10;
const gap = 26;
const laneWidth = 12;
const endWidth = 62;

/** Where a task goes on other than with the next one, and how far below its top that leaves it. */
interface Jump {
  readonly to: string;
  readonly below: number;
}

/** A task with its block: what leaves it beside the arrow to the next task. */
interface TaskBlock extends Block {
  readonly name: string;
  readonly jumps: readonly Jump[];
  /** Whether the next task of the list may follow. */
  readonly goesOn: boolean;
}

const isNext = (then: string, next: string | undefined): boolean =>
  then === 'continue' || then === next;

/** `end` ends everything: a sign of its own beside the box. */
const endSign = (x: number, y: number): string =>
  arrow(`M${x} ${y}h14`) +
  `<rect class="end" x="${x + 16}" y="${y - 9}" width="42" height="18" rx="9"/>` +
  textAt(x + 26, y + 4, 'end', 'small');

/** Rows of text at the top of a box, the name first. */
const rowsIn = (
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
  rows: readonly string[],
): string =>
  rows
    .map((row, index) => {
      const kind = index === 0 ? 'name' : 'small';
      const text = fitted(row, width - 2 * inset, kind);
      return textAt(x + inset, y + inset + 10 + index * rowHeight, text, kind);
    })
    .join('');

/** A box with rows of text. */
function box(kind: string, rows: readonly string[]): Block {
  const height = rows.length * rowHeight + inset + 6;
  return {
    width: boxWidth,
    height,
    middle: boxWidth / 2,
    edge: boxWidth,
    draw: (x, y) =>
      frame({ x, y, width: boxWidth, height }, `box ${kind}`) +
      rowsIn({ x, y, width: boxWidth }, rows),
  };
}

/** A frame around what belongs to a task, under its name. */
function framed(rows: readonly string[], inner: Block, kind = 'group'): Block {
  const head = rows.length * rowHeight + inset + 8;
  const left = Math.max(inner.middle, boxWidth / 2) + 2 * inset;
  const right = Math.max(inner.width - inner.middle, boxWidth / 2) + 2 * inset;
  const width = left + right;
  const height = head + inner.height + 2 * inset;
  return {
    width,
    height,
    middle: left,
    edge: width,
    draw: (x, y) =>
      frame({ x, y, width, height }, kind) +
      rowsIn({ x, y, width }, rows) +
      inner.draw(x + left - inner.middle, y + head) +
      line(`M${x + left} ${y + head + inner.height}V${y + height}`),
  };
}

/** Blocks beside each other, between the line that divides them and the one that joins them. */
function beside(blocks: readonly Block[]): Block {
  const width = blocks.reduce((sum, block) => sum + block.width + gap, -gap);
  const tallest = Math.max(...blocks.map(({ height }) => height));
  const height = tallest + 2 * gap;
  return {
    width,
    height,
    middle: width / 2,
    edge: width,
    draw(x, y) {
      let at = x;
      const places = blocks.map((block) => {
        const place = { block, left: at, middle: at + block.middle };
        at += block.width + gap;
        return place;
      });
      const ends = places.map(({ middle }) => middle);
      const bar = (level: number): string =>
        line(`M${Math.min(...ends, x + width / 2)} ${level}H${Math.max(...ends, x + width / 2)}`);
      return (
        bar(y) +
        bar(y + height) +
        places
          .map(
            ({ block, left, middle }) =>
              arrow(`M${middle} ${y}v${gap - 2}`) +
              block.draw(left, y + gap) +
              line(`M${middle} ${y + gap + block.height}V${y + height}`),
          )
          .join('')
      );
    },
  };
}

/** What is tried, and beside it what happens when it fails. */
function tried(rows: readonly string[], task: Task): Block {
  const [name = '', caught = '', ...others] = rows;
  const body = framed([name, ...others], listBlock(task.try ?? []));
  const { do: handling, retry } = task.catch ?? {};
  // Where nothing handles it, the last attempt fails the task; without attempts it is passed over.
  const isEnd = handling === undefined && retry !== undefined;
  const handler = handling
    ? listBlock(handling)
    : box('quiet', [isEnd ? 'fails after the last' : 'goes on']);
  const handled = framed([caught], handler, 'group caught');
  const width = body.width + 2 * gap + handled.width;
  const height = Math.max(body.height, handled.height + gap) + gap / 2;
  return {
    width,
    height,
    middle: body.middle,
    edge: width,
    draw(x, y) {
      const right = x + body.width + 2 * gap;
      const below = y + height;
      const handledEnd = y + gap + handled.height;
      return (
        body.draw(x, y) +
        handled.draw(right, y + gap) +
        arrow(`M${x + body.width} ${y + gap + 14}h${2 * gap - 2}`, ' dashed') +
        line(`M${x + body.middle} ${y + body.height}V${below}`) +
        (isEnd ? '' : line(`M${right + handled.middle} ${handledEnd}V${below}H${x + body.middle}`))
      );
    },
  };
}

const casesOf = (task: Task): (readonly [string, SwitchCase])[] =>
  (task.switch ?? []).flatMap((one) => Object.entries(one));

/** A box, with the sign of the end beside each row that ends everything. */
function taskBlock(name: string, task: Task, next: string | undefined): TaskBlock {
  const kind = kindOf(task) ?? 'do';
  const rows = [name, taskWords(task), ...sideWords(task)];
  const inner = (): Block => {
    if (kind === 'do' || kind === 'for') return framed(rows, listBlock(task.do ?? []));
    if (kind === 'try') return tried(rows, task);
    if (kind === 'fork') {
      const branches = (task.fork?.branches ?? []).flatMap((item) =>
        Object.entries(item).map(([branch, one]) => taskBlock(branch, one, undefined)),
      );
      return framed(rows, beside(branches));
    }
    const cases = casesOf(task).map(([label, { when }]) => caseWords(label, when));
    const look = kind === 'call' && task.call === 'durabill.approval' ? 'person' : kind;
    return box(look, [...rows, ...cases]);
  };
  const block = inner();
  const all: Jump[] = casesOf(task).map(([, { then }], index) => ({
    to: then,
    below: inset + 6 + (rows.length + index) * rowHeight,
  }));
  const isOpen = kind !== 'switch' || casesOf(task).every(([, { when }]) => when !== undefined);
  const then = task.then ?? 'continue';
  if (isOpen && kind !== 'raise') all.push({ to: then, below: block.height / 2 });
  const jumps = all.filter(({ to }) => !isNext(to, next));
  const ends = jumps.filter(({ to }) => to === 'end');
  return {
    ...block,
    name,
    width: block.width + (ends.length > 0 ? endWidth : 0),
    jumps: jumps.filter(({ to }) => to !== 'end'),
    goesOn: all.some(({ to }) => isNext(to, next)),
    draw: (x, y) =>
      block.draw(x, y) + ends.map(({ below }) => endSign(x + block.edge, y + below)).join(''),
  };
}

/** Tasks below each other; whatever passes over some of them goes by on the right. */
export function listBlock(list: TaskList): Block {
  const items = list.map((item) => Object.entries(item)[0] ?? (['', {}] as const));
  const blocks = items.map(([name, task], index) => taskBlock(name, task, items[index + 1]?.[0]));
  const left = Math.max(0, ...blocks.map(({ middle }) => middle));
  const right = Math.max(0, ...blocks.map(({ width, middle }) => width - middle));
  const targets = [...new Set(blocks.flatMap(({ jumps }) => jumps.map(({ to }) => to)))];
  const lanes = targets.length * laneWidth;
  const height =
    blocks.reduce((sum, block) => sum + block.height + gap, -gap) + (lanes > 0 ? gap / 2 : 0);
  return {
    width: left + right + (lanes > 0 ? lanes + laneWidth : 0),
    height,
    middle: left,
    edge: left + right,
    draw(x, y) {
      const middle = x + left;
      let at = y;
      const places = blocks.map((block) => {
        const place = { block, x: middle - block.middle, y: at };
        at += block.height + gap;
        return place;
      });
      const bottom = y + height;
      const drawn = places.map(({ block, x: own, y: top }, index) => {
        const next = places[index + 1];
        const below = top + block.height;
        const straight = !block.goesOn
          ? ''
          : next
            ? arrow(`M${middle} ${below}V${next.y - 2}`)
            : line(`M${middle} ${below}V${bottom}`);
        const passing = block.jumps.map(({ to, below: from }) => {
          const lane = x + left + right + laneWidth * (1 + targets.indexOf(to));
          const target = places.find((each) => each.block.name === to);
          const start = `M${own + block.edge} ${top + from}H${lane}`;
          // `exit` leaves the list below its last task.
          if (!target) return line(`${start}V${bottom}H${middle}`);
          return arrow(`${start}V${target.y + 12}H${target.x + target.block.edge + 2}`);
        });
        return block.draw(own, top) + straight + passing.join('');
      });
      return drawn.join('');
    },
  };
}
