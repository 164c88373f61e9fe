import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';

import { api, ApiError, type Page, type Query } from './api.ts';
import { Gently } from './gently.ts';
import { onChanged } from './live.ts';

/** State of a request made by a part of the page. */
export interface Data<T> {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  /** True before the first answer: draw a skeleton. */
  readonly isFirst: boolean;
  readonly reload: () => void;
}

export interface DataOptions {
  readonly query?: Query;
  /** Kinds of changes after which it is asked again; see the table in `changes.ts` of this plugin. */
  readonly kinds?: readonly string[];
  /** Interval of polling in milliseconds, while the tab is visible. */
  readonly every?: number;
  /** Waits for the answer of now: a form that begins with an older one would undo what has changed since. */
  readonly isFresh?: boolean;
}

/**
 * Callback for pages whose parts appear together: called with each part that starts or stops
 * waiting for its first answer.
 */
export const FirstAnswers = createContext<((part: object, isWaiting: boolean) => void) | undefined>(
  undefined,
);

function useFirstAnswer(isWaiting: boolean): void {
  const told = useContext(FirstAnswers);
  const part = useRef({}).current;
  useEffect(() => told?.(part, isWaiting), [told, isWaiting]);
  useEffect(() => () => told?.(part, false), [told]);
}

/** Latest answers, so that going back shows them immediately, until the new answer arrives. */
const answers = new Map<string, unknown>();
const mostAnswers = 60;

/** Asks for a path of the API, and again whenever it may have changed. `undefined` asks nothing. */
export function useData<T>(
  path: string | undefined,
  { query, kinds, every, isFresh = false }: DataOptions = {},
): Data<T> {
  const key = path === undefined ? undefined : `${path} ${JSON.stringify(query ?? {})}`;
  const [, draw] = useState(0);
  const state = useRef<{ key?: string; value?: T; error?: ApiError }>({});
  if (state.current.key !== key) {
    state.current = {
      key,
      value: key === undefined || isFresh ? undefined : (answers.get(key) as T | undefined),
    };
  }
  const round = useRef<AbortController | undefined>(undefined);
  const load = useCallback(async () => {
    if (path === undefined || key === undefined) {
      return;
    }
    round.current?.abort();
    const own = new AbortController();
    round.current = own;
    try {
      const value = await api.get<T>(path, query, own.signal);
      if (!own.signal.aborted) {
        remember(key, value);
        state.current = { key, value };
        draw((count) => count + 1);
      }
    } catch (error) {
      // Known data stays on the page; the lost connection is shown at its top.
      if (!own.signal.aborted) {
        const { value } = state.current;
        state.current = { key, value, error: worthSaying(error, value) };
        draw((count) => count + 1);
      }
    }
  }, [key]);
  useEffect(() => {
    void load();
    return () => round.current?.abort();
  }, [load]);
  useAgain(load, kinds, every);
  const { value, error } = state.current;
  const isFirst = value === undefined && error === undefined && key !== undefined;
  useFirstAnswer(isFirst);
  return { value, error, isFirst, reload: () => void load() };
}

/** Fetches a list page by page; a change refreshes as many pages as are shown. */
export function useList<T>(
  path: string,
  options: DataOptions & { readonly pageSize?: number } = {},
): ListData<T> {
  const { query, kinds, every, pageSize = 100 } = options;
  const key = `${path} ${JSON.stringify(query ?? {})}`;
  const [, draw] = useState(0);
  const state = useRef<ListState<T>>({
    key: '',
    items: undefined,
    next: '',
    total: 0,
    error: undefined,
  });
  if (state.current.key !== key) {
    const known = answers.get(`list ${key}`) as ListState<T> | undefined;
    state.current = known ?? { key, items: undefined, next: '', total: 0, error: undefined };
  }
  const round = useRef<AbortController | undefined>(undefined);
  const load = useCallback(
    async (wanted: number, cursor: string | undefined) => {
      round.current?.abort();
      const own = new AbortController();
      round.current = own;
      try {
        let items: T[] = cursor === undefined ? [] : [...(state.current.items ?? [])];
        let next = cursor ?? '';
        let total = 0;
        do {
          const page: Page<T> = await api.get<Page<T>>(
            path,
            {
              ...query,
              limit: Math.min(200, Math.max(pageSize, wanted - items.length)),
              cursor: next === '' ? undefined : next,
            },
            own.signal,
          );
          items = [...items, ...page.items];
          next = page.next_cursor;
          total = page.total;
        } while (next !== '' && items.length < wanted);
        state.current = { key, items, next, total, error: undefined };
        remember(`list ${key}`, state.current);
      } catch (error) {
        if (own.signal.aborted) {
          return;
        }
        state.current = { ...state.current, key, error: worthSaying(error, state.current.items) };
      }
      draw((count) => count + 1);
    },
    [key],
  );
  const again = useCallback(
    () => load(Math.max(pageSize, state.current.items?.length ?? 0), undefined),
    [load],
  );
  useEffect(() => {
    void again();
    return () => round.current?.abort();
  }, [again]);
  useAgain(again, kinds, every);
  const { items, total, error, next } = state.current;
  const isFirst = items === undefined && error === undefined;
  useFirstAnswer(isFirst);
  return {
    items,
    total,
    error,
    isFirst,
    reload: () => void again(),
    more:
      next === ''
        ? undefined
        : () => void load((state.current.items?.length ?? 0) + pageSize, next),
  };
}

export interface ListData<T> {
  readonly items: readonly T[] | undefined;
  readonly total: number;
  readonly error: ApiError | undefined;
  readonly isFirst: boolean;
  /** Asks for the next page; undefined on the last one. */
  readonly more: (() => void) | undefined;
  readonly reload: () => void;
}

interface ListState<T> {
  readonly key: string;
  readonly items: readonly T[] | undefined;
  readonly next: string;
  readonly total: number;
  readonly error: ApiError | undefined;
}

/**
 * Returns the error to show; a lost connection is shown once, over the page, as long as there is
 * something to show.
 */
function worthSaying(error: unknown, known: unknown): ApiError | undefined {
  const refused = asApiError(error);
  return refused.isSilence && known !== undefined ? undefined : refused;
}

function useAgain(
  load: () => Promise<void>,
  kinds: readonly string[] | undefined,
  every: number | undefined,
): void {
  const names = kinds?.join(' ');
  useEffect(() => {
    const gently = new Gently(load);
    const stop = onChanged(names === undefined ? [] : names.split(' '), gently.ask);
    const timer =
      every === undefined
        ? undefined
        : setInterval(() => document.visibilityState === 'visible' && gently.ask(), every);
    return () => {
      gently.end();
      stop();
      clearInterval(timer);
    };
  }, [load, names, every]);
}

function remember(key: string, value: unknown): void {
  answers.delete(key);
  answers.set(key, value);
  if (answers.size > mostAnswers) {
    answers.delete(answers.keys().next().value!);
  }
}

/** Another reader must not see what the one before was shown. */
export const forgetAnswers = (): void => answers.clear();

export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, 'page', String(error));
