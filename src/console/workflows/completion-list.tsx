import { useQuery } from '@tanstack/react-query';
import { useState, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import { completionsAt, type Choice } from './completion.ts';
import { cursorOf, type Cursor } from './cursor.ts';
import { definitionForm, operationNames } from './queries.ts';

/** So many are shown; who types on has fewer. */
const shownMax = 8;

const moves: ReadonlySet<string> = new Set(['ArrowLeft', 'ArrowRight', 'Home', 'End']);

interface Open {
  readonly cursor: Cursor;
  /** Which one is chosen by enter; undefined: none, and enter begins a line. */
  readonly active: number | undefined;
}

/**
 * What can stand at the cursor of a definition: open as soon as something is typed there, or asked for with
 * Ctrl and the space bar. The text keeps the focus.
 */
export function useCompletion(
  area: RefObject<HTMLTextAreaElement | null>,
  onChange: (text: string) => void,
) {
  const [open, setOpen] = useState<Open>();
  const form = useQuery(definitionForm).data;
  const isOperation = open?.cursor.path.at(-1) === 'operationId';
  const { data: operations = [] } = useQuery({ ...operationNames, enabled: isOperation });
  const all = open && form ? completionsAt(form, open.cursor, operations) : [];
  const choices = all.slice(0, shownMax);
  const active = open?.active === undefined ? undefined : choices[open.active];

  const look = (isAsked: boolean): void => {
    const { value = '', selectionStart = 0, selectionEnd = 0 } = area.current ?? {};
    const cursor = selectionStart === selectionEnd ? cursorOf(value, selectionStart) : undefined;
    const isWanted = cursor !== undefined && (isAsked || cursor.typed !== '');
    setOpen(isWanted ? { cursor, active: isAsked ? 0 : undefined } : undefined);
  };
  const choose = ({ text }: Choice): void => {
    if (!area.current || !open) return;
    area.current.focus();
    area.current.setRangeText(text, open.cursor.from, open.cursor.to, 'end');
    onChange(area.current.value);
    setOpen(undefined);
  };
  const move = (by: number): void => {
    if (!open || choices.length === 0) return;
    const from = open.active ?? (by > 0 ? -1 : 0);
    setOpen({ ...open, active: (from + by + choices.length) % choices.length });
  };
  /** What a key does to the list; others are those of the text. */
  const press = (event: KeyboardEvent): void => {
    const isShown = choices.length > 0;
    const acts: Readonly<Record<string, (() => void) | undefined>> = {
      ArrowDown: isShown ? () => move(1) : undefined,
      ArrowUp: isShown ? () => move(-1) : undefined,
      Escape: open ? () => setOpen(undefined) : undefined,
      Enter: active ? () => choose(active) : undefined,
      ' ': event.ctrlKey ? () => look(true) : undefined,
    };
    const act = acts[event.key];
    // The cursor goes elsewhere.
    if (moves.has(event.key)) setOpen(undefined);
    if (!act) return;
    event.preventDefault();
    act();
  };
  const close = (): void => setOpen(undefined);
  return { choices, more: all.length - choices.length, active, look, choose, press, close };
}

/** The list below the text, whose chosen option the text names as its active descendant. */
export const CompletionList = ({
  id,
  of: { choices, more, active, choose },
}: {
  readonly id: string;
  readonly of: ReturnType<typeof useCompletion>;
}): ReactNode => (
  <div className="completions">
    <ul id={id} role="listbox" aria-label="Completions" hidden={choices.length === 0}>
      {choices.map((choice) => (
        <li
          key={choice.name}
          id={`${id}-${choice.name}`}
          role="option"
          aria-selected={choice === active}
          // The text keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => choose(choice)}
        >
          <code>{choice.name}</code> <span className="muted">{choice.says}</span>
        </li>
      ))}
    </ul>
    <p className="muted" role="status">
      {choices.length === 0
        ? 'Ctrl and the space bar: what can stand at the cursor.'
        : `${choices.length + more} can stand here${more > 0 ? `, ${more} of them not shown` : ''}: arrow keys, then enter; escape closes.`}
    </p>
  </div>
);
