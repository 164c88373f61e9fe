import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

import { queryField as text } from '../text/english/query-field.ts';
import { Button } from './parts.tsx';
import { beginsAt, type QueryLanguage, slotAt, useWords } from './query-words.ts';

interface QueryFieldProps {
  readonly language: QueryLanguage;
  readonly value: string;
  readonly label: string;
  readonly onRun: (query: string) => void;
  /** Error of the store about the last query. */
  readonly error?: string;
}

const mostShown = 12;

/** A query with completion, and what is wrong with it below the word that is. */
export function QueryField({ language, value, label, onRun, error }: QueryFieldProps) {
  const [typed, setTyped] = useState(value);
  const [ran, setRan] = useState(value);
  useEffect(() => {
    setTyped(value);
    setRan(value);
  }, [value]);
  const run = (): void => {
    setRan(typed);
    onRun(typed.trim());
  };
  return (
    <div class="query-field">
      <div class="query-line">
        <QueryInput
          language={language}
          value={typed}
          label={label}
          title={text.hint}
          isWrong={error !== undefined}
          onInput={setTyped}
          onEnter={run}
        />
        <Button kind="primary" onClick={run}>
          {text.run}
        </Button>
      </div>
      {error !== undefined && <Wrong query={ran} message={error} />}
    </div>
  );
}

interface QueryInputProps {
  readonly language: QueryLanguage;
  readonly value: string;
  /** Said of the field where no label element names it. */
  readonly label?: string;
  readonly title?: string;
  readonly isWrong?: boolean;
  readonly onInput: (query: string) => void;
  /** Called for Enter without Shift; without it, Enter starts a new line. */
  readonly onEnter?: () => void;
  readonly id?: string;
  readonly 'aria-describedby'?: string;
}

/** The text of a query, with names, labels and their values as the stores have them. */
export function QueryInput({
  language,
  value,
  label,
  title,
  isWrong = false,
  onInput,
  onEnter,
  ...ids
}: QueryInputProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const { suggestions, pick, setAt, take, taken } = useCompletion(
    language,
    value,
    (query, caret) => {
      onInput(query);
      queueMicrotask(() => {
        field.current?.focus();
        field.current?.setSelectionRange(caret, caret);
      });
    },
  );
  const key = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (taken(event.key)) {
      event.preventDefault();
    } else if (event.key === 'Enter' && !event.shiftKey && onEnter !== undefined) {
      event.preventDefault();
      setAt(undefined);
      onEnter();
    }
  };
  return (
    <div class="query-input">
      <textarea
        {...ids}
        ref={field}
        class="mono"
        rows={Math.min(8, value.split('\n').length)}
        spellcheck={false}
        autoComplete="off"
        aria-label={label}
        title={title}
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-activedescendant={suggestions.length > 0 && pick >= 0 ? `${id}-${pick}` : undefined}
        aria-invalid={isWrong || undefined}
        value={value}
        onInput={(event) => {
          onInput(event.currentTarget.value);
          setAt(event.currentTarget.selectionEnd);
        }}
        onKeyDown={key}
        onBlur={() => setAt(undefined)}
      />
      <Suggestions id={id} names={suggestions} pick={pick} onTake={take} />
    </div>
  );
}

/** Words that may follow at the caret, and which of them is picked; `taken` says whether a key was one for them. */
function useCompletion(
  language: QueryLanguage,
  typed: string,
  onTake: (text: string, caret: number) => void,
) {
  const [at, setAt] = useState<number>();
  /**
   * Index of the selected suggestion; -1 until an arrow key was pressed: Enter then runs the typed
   * text.
   */
  const [pick, setPick] = useState(-1);
  const found = at === undefined ? undefined : slotAt(typed, at);
  const slot = found !== undefined && beginsAt(found, typed, at!) ? found : undefined;
  const words = useWords(language, slot);
  const suggestions = slot === undefined ? [] : suggest(slot.word, words);
  const move = (to: number | undefined): void => {
    setAt(to);
    setPick(-1);
  };
  const take = (name: string): void => {
    const { word, kind } = slot!;
    const start = at! - word.length;
    const rest = typed.slice(at);
    const closing = kind === 'value' && !/^["'`]/.test(rest) ? '"' : '';
    onTake(typed.slice(0, start) + name + closing + rest, start + name.length + closing.length);
    move(undefined);
  };
  const taken = (key: string): boolean => {
    const step = ({ ArrowDown: 1, ArrowUp: -1 } as Readonly<Record<string, number>>)[key];
    if (suggestions.length === 0) {
      return false;
    }
    if (step !== undefined) {
      setPick((Math.max(pick, step < 0 ? 0 : -1) + step + suggestions.length) % suggestions.length);
    } else if (pick >= 0 ? key === 'Tab' || key === 'Enter' : key === 'Tab' && slot?.word !== '') {
      take(suggestions[Math.max(0, pick)]!);
    } else if (key === 'Escape') {
      move(undefined);
    } else {
      return false;
    }
    return true;
  };
  return { suggestions, pick, setAt: move, take, taken };
}

interface SuggestionsProps {
  readonly id: string;
  readonly names: readonly string[];
  readonly pick: number;
  readonly onTake: (name: string) => void;
}

const Suggestions = ({ id, names, pick, onTake }: SuggestionsProps) => (
  <ul
    id={`${id}-list`}
    class="suggestions"
    role="listbox"
    aria-label={text.suggestions}
    hidden={names.length === 0}
  >
    {names.map((name, index) => (
      <li
        key={name}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === pick}
        onMouseDown={(event) => {
          // The field keeps the focus.
          event.preventDefault();
          onTake(name);
        }}
      >
        {name}
      </li>
    ))}
  </ul>
);

/** The line that is wrong, with a mark under the word, where the message says where. */
function Wrong({ query, message }: { readonly query: string; readonly message: string }) {
  const [, line, column] = /(?:line |")?\b(\d{1,4})(?:, col |:)(\d{1,5})\b/.exec(message) ?? [];
  const shown = line === undefined ? undefined : query.split('\n')[Number(line) - 1];
  return (
    <div class="query-wrong" role="alert">
      {shown !== undefined && (
        <pre aria-hidden="true">
          {shown}
          {'\n'}
          <span class="critical">{`${' '.repeat(Math.max(0, Number(column) - 1))}${'^'.repeat(Math.max(1, /^\w+/.exec(shown.slice(Number(column) - 1))?.[0].length ?? 1))}`}</span>
        </pre>
      )}
      <p class="critical">{message}</p>
    </div>
  );
}

/** Returns the names that start with the word, then those that contain it. */
function suggest(word: string, names: readonly string[]): readonly string[] {
  const small = word.toLowerCase();
  const fits = names.filter((name) => name !== word && name.toLowerCase().includes(small));
  return fits
    .toSorted(
      (a, b) =>
        Number(b.toLowerCase().startsWith(small)) - Number(a.toLowerCase().startsWith(small)) ||
        a.length - b.length,
    )
    .slice(0, mostShown);
}
