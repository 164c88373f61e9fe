import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

import { api } from '../client/api.ts';
import { queryField as text } from '../text/english/query-field.ts';
import { Button } from './parts.tsx';

export type QueryLanguage = 'promql' | 'logql' | 'traceql';

interface QueryFieldProps {
  readonly language: QueryLanguage;
  readonly value: string;
  readonly label: string;
  readonly onRun: (query: string) => void;
  /** Error of the store about the last query. */
  readonly error?: string;
}

const functions: Readonly<Record<QueryLanguage, readonly string[]>> = {
  promql: [
    'sum',
    'avg',
    'max',
    'min',
    'count',
    'topk',
    'bottomk',
    'quantile',
    'rate',
    'increase',
    'irate',
    'delta',
    'deriv',
    'predict_linear',
    'histogram_quantile',
    'avg_over_time',
    'max_over_time',
    'min_over_time',
    'absent',
    'changes',
    'resets',
    'label_replace',
    'clamp_max',
    'clamp_min',
    'time',
    'vector',
    'by',
    'without',
    'group_left',
    'offset',
  ],
  logql: [
    'rate',
    'count_over_time',
    'bytes_over_time',
    'sum',
    'topk',
    'by',
    'json',
    'logfmt',
    'pattern',
    'regexp',
    'line_format',
    'label_format',
    'unwrap',
    'decolorize',
  ],
  traceql: [
    'resource.service.name',
    'span.http.route',
    'span.http.response.status_code',
    'name',
    'status',
    'duration',
    'kind',
    'rootServiceName',
    'error',
    'ok',
    'count',
    'avg',
    'max',
    'select',
    'rate',
  ],
};

const namesFrom: Readonly<Record<QueryLanguage, readonly string[]>> = {
  promql: ['//prometheus/api/v1/label/__name__/values', '//prometheus/api/v1/labels'],
  logql: ['//loki/api/v1/labels'],
  traceql: [],
};

const mostShown = 12;

/** A query with completion, and what is wrong with it below the word that is. */
export function QueryField({ language, value, label, onRun, error }: QueryFieldProps) {
  const [typed, setTyped] = useState(value);
  const [ran, setRan] = useState(value);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => {
    setTyped(value);
    setRan(value);
  }, [value]);
  const { suggestions, pick, setAt, setPick, take, taken } = useCompletion(
    language,
    typed,
    (text, caret) => {
      setTyped(text);
      queueMicrotask(() => {
        field.current?.focus();
        field.current?.setSelectionRange(caret, caret);
      });
    },
  );
  const run = (): void => {
    setAt(undefined);
    setRan(typed);
    onRun(typed.trim());
  };
  const key = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    if (taken(event.key)) {
      event.preventDefault();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      run();
    }
  };
  return (
    <div class="query-field">
      <div class="query-line">
        <textarea
          ref={field}
          class="mono"
          rows={Math.min(8, typed.split('\n').length)}
          spellcheck={false}
          autoComplete="off"
          aria-label={label}
          title={text.hint}
          aria-autocomplete="list"
          aria-controls={`${id}-list`}
          aria-activedescendant={suggestions.length > 0 && pick >= 0 ? `${id}-${pick}` : undefined}
          aria-invalid={error !== undefined || undefined}
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAt(event.currentTarget.selectionEnd);
            setPick(-1);
          }}
          onKeyDown={key}
          onBlur={() => setAt(undefined)}
        />
        <Button kind="primary" onClick={run}>
          {text.run}
        </Button>
      </div>
      <Suggestions id={id} names={suggestions} pick={pick} onTake={take} />
      {error !== undefined && <Wrong query={ran} message={error} />}
    </div>
  );
}

/** Names that may follow at the caret, and which of them is picked; `taken` says whether a key was one for them. */
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
  const names = useNames(language);
  const word = at === undefined ? '' : wordBefore(typed, at);
  const suggestions = word.length < 1 ? [] : suggest(word, names);
  const take = (name: string): void => {
    const start = at! - word.length;
    onTake(typed.slice(0, start) + name + typed.slice(at), start + name.length);
    setAt(undefined);
  };
  const taken = (key: string): boolean => {
    const step = ({ ArrowDown: 1, ArrowUp: -1 } as Readonly<Record<string, number>>)[key];
    if (suggestions.length === 0) {
      return false;
    }
    if (step !== undefined) {
      setPick((Math.max(pick, step < 0 ? 0 : -1) + step + suggestions.length) % suggestions.length);
    } else if (key === 'Tab' || (key === 'Enter' && pick >= 0)) {
      take(suggestions[Math.max(0, pick)]!);
    } else if (key === 'Escape') {
      setAt(undefined);
    } else {
      return false;
    }
    return true;
  };
  return { suggestions, pick, setAt, setPick, take, taken };
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

function useNames(language: QueryLanguage): readonly string[] {
  const [names, setNames] = useState<readonly string[]>(functions[language]);
  useEffect(() => {
    let left = false;
    void Promise.all(
      namesFrom[language].map((path) =>
        api.get<{ data?: readonly string[] }>(path).catch(() => ({ data: [] })),
      ),
    ).then((answers) => {
      if (!left) {
        setNames([
          ...new Set([...answers.flatMap(({ data = [] }) => data), ...functions[language]]),
        ]);
      }
    });
    return () => void (left = true);
  }, [language]);
  return names;
}

const wordBefore = (query: string, at: number): string => /[\w:.]*$/.exec(query.slice(0, at))![0];

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
