import { useEffect, useRef, useState } from 'preact/hooks';

import { api, type ApiError } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import type { Previewed, RuleDraft } from './rule.ts';

/** Time without typing after which a rule is tried on the last day. */
const calmMs = 500;

export interface PreviewState {
  /** The last answer; it stays while the next one is on its way. */
  readonly shown: Previewed | undefined;
  readonly error: ApiError | undefined;
  readonly isWaiting: boolean;
}

/** Tries a rule on the last day, again whenever what it watches has changed. */
export function usePreview(rule: RuleDraft, isAllowed: boolean): PreviewState {
  const { kind, scope_type, conditions, join_mode, severity, dimensions } = rule;
  const body = JSON.stringify({
    kind,
    scope_type,
    conditions,
    join_mode,
    severity,
    dimensions,
    lookback: '24h',
  });
  const [state, setState] = useState<PreviewState & { readonly body?: string }>({
    shown: undefined,
    error: undefined,
    isWaiting: true,
  });
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isAllowed) {
      return undefined;
    }
    const own = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const shown = await api.post<Previewed>('/alert-rules/preview', JSON.parse(body), {
          signal: own.signal,
        });
        setState({ shown, error: undefined, isWaiting: false, body });
      } catch (error) {
        if (!own.signal.aborted) {
          setState(({ shown }) => ({ shown, error: asApiError(error), isWaiting: false, body }));
        }
      }
    };
    const timer = setTimeout(() => void ask(), isFirst.current ? 0 : calmMs);
    isFirst.current = false;
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [body, isAllowed]);
  return { ...state, isWaiting: isAllowed && state.body !== body };
}
