import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useId, useRef, useState, type ReactNode, type RefObject } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { Fault } from '../shown/loaded.tsx';
import { placeOf, placeOfPointer, placesOf, type Place } from '../api/json-lines.ts';
import { validate } from './queries.ts';
import { CompletionList, useCompletion } from './completion-list.tsx';

interface Found {
  readonly place: Place;
  readonly message: string;
}

/** The JSON object that a text is; undefined: it is none. */
export function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** What is written in YAML begins otherwise. */
const isYaml = (text: string): boolean => /^\s*[^\s{]/.test(text);
const noJson = 'This is no JSON, as which a definition is kept here.';

/** Makes JSON of what is YAML, whose reader is loaded then. */
function OfYaml({
  text,
  onMade,
}: {
  readonly text: string;
  readonly onMade: (json: string) => void;
}): ReactNode {
  const [refused, setRefused] = useState({ text, message: '' });
  const make = async (): Promise<void> => {
    const { jsonOfYaml } = await import('../api/yaml-text.ts');
    try {
      onMade(jsonOfYaml(text));
    } catch (error) {
      setRefused({ text, message: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <>
      <button type="button" onClick={() => void make()}>
        Make JSON of this YAML
      </button>
      <p role="status" className="bad">
        {refused.text === text ? refused.message : ''}
      </p>
    </>
  );
}

/** Where the browser stopped reading, as far as it says so. */
function faultOfJson(text: string): Found {
  try {
    JSON.parse(text);
    return { place: { line: 1, column: 1 }, message: 'A definition is a JSON object.' };
  } catch (error) {
    if (isYaml(text)) return { place: { line: 1, column: 1 }, message: noJson };
    const message = error instanceof Error ? error.message : String(error);
    const at = /position (\d+)/.exec(message)?.[1];
    const end = text.trimEnd().length;
    return { place: placeOf(text, at === undefined ? end : Number(at)), message };
  }
}

/** What is wrong with a definition, as the API says while it is typed. */
export function useFaults(text: string) {
  const checked = useDeferredValue(text);
  const isObject = objectOf(checked) !== undefined;
  const query = useQuery({
    queryKey: ['faults of definition', checked],
    enabled: isObject,
    queryFn: async ({ signal }) => {
      // Typed on meanwhile, it is another question.
      await new Promise((resolve) => setTimeout(resolve, 300));
      signal.throwIfAborted();
      return validate(checked, signal);
    },
  });
  const places = placesOf(checked);
  const { data, error } = query;
  // What has a member twice is refused before it is checked.
  const refused = error instanceof ApiProblem ? error.faults : [];
  const faults: readonly Found[] = isObject
    ? (data?.faults ?? refused).map(({ pointer, message }) => ({
        place: placeOfPointer(places, pointer),
        message,
      }))
    : [faultOfJson(checked)];
  const isValid = isObject && data?.valid === true && checked === text;
  return { faults, isValid, error: refused.length > 0 ? null : error };
}

/** Why a definition cannot be published. */
export const lackOf = ({ faults, isValid }: ReturnType<typeof useFaults>): string | undefined =>
  isValid ? undefined : faults.length > 0 ? 'Mend its faults first.' : 'It is looked at first.';

/** Puts the cursor where a fault is, and selects its line. */
function moveTo(area: RefObject<HTMLTextAreaElement | null>, { line, column }: Place): void {
  const lines = (area.current?.value ?? '').split('\n');
  const begin = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  area.current?.focus();
  area.current?.setSelectionRange(begin + column - 1, begin + (lines[line - 1]?.length ?? 0));
}

/** Faults, each with the way to its line. */
const FaultList = ({
  of,
  onMove,
}: {
  readonly of: readonly Found[];
  readonly onMove: (place: Place) => void;
}): ReactNode => (
  <ul className="faults">
    {of.map(({ place, message }) => (
      <li key={`${place.line} ${place.column} ${message}`}>
        <button type="button" className="plain" onClick={() => onMove(place)}>
          Line {place.line}, column {place.column}
        </button>{' '}
        {message}
      </li>
    ))}
  </ul>
);

/** A definition as text, with its faults at their lines. */
export function Editor({
  text,
  onChange,
  check,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly check: ReturnType<typeof useFaults>;
}): ReactNode {
  const area = useRef<HTMLTextAreaElement>(null);
  const faultsId = useId();
  const listId = useId();
  const completion = useCompletion(area, onChange);
  const { active } = completion;
  const { faults, isValid, error } = check;
  const hasFault = faults.length > 0;
  const state = isValid
    ? 'No fault: it can be published.'
    : hasFault
      ? `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:`
      : 'Looking at it…';
  return (
    <>
      <label className="wide">
        <span>Definition</span>
        <textarea
          ref={area}
          className="code"
          rows={Math.min(30, text.split('\n').length + 1)}
          spellCheck={false}
          value={text}
          aria-invalid={hasFault}
          aria-describedby={faultsId}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={listId}
          aria-activedescendant={active ? `${listId}-${active.name}` : undefined}
          onChange={(event) => {
            onChange(event.target.value);
            completion.look(false);
          }}
          onKeyDown={completion.press}
          onClick={completion.close}
          onBlur={completion.close}
        />
      </label>
      <CompletionList id={listId} of={completion} />
      <div id={faultsId}>
        <p role="status" className={isValid ? 'good' : hasFault ? 'bad' : 'muted'}>
          {state}
        </p>
        {hasFault ? <FaultList of={faults} onMove={(place) => moveTo(area, place)} /> : null}
      </div>
      {isYaml(text) ? (
        <OfYaml
          text={text}
          onMade={(json) => {
            onChange(json);
            area.current?.focus();
          }}
        />
      ) : null}
      {error ? <Fault error={error} /> : null}
    </>
  );
}
