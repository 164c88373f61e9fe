import { useCallback, useEffect, useState } from 'preact/hooks';

import { api, type ApiError, type Query } from '../../../client/api.ts';
import { asApiError } from '../../../client/data.ts';
import type { Panel, Rendered } from '../drawn/shape.ts';

/** A panel that is being edited; fields that the editor does not know go along. */
export interface DraftPanel extends Pick<
  Panel,
  | 'title'
  | 'type'
  | 'query'
  | 'legend'
  | 'unit'
  | 'thresholds'
  | 'position'
  | 'queries'
  | 'content'
  | 'description'
  | 'links'
> {
  readonly id?: number;
  /** Name of the panel on this page alone. */
  readonly key: string;
}

export interface DraftVariable {
  readonly name: string;
  readonly title?: string;
  readonly type: string;
  readonly query?: string;
  readonly values?: readonly string[];
  readonly default?: string;
  readonly multi?: boolean;
  readonly all?: boolean;
}

/** Everything that is saved together. */
export interface Draft {
  /** Null for a dashboard of a plugin. */
  readonly title: string | null;
  readonly variables: readonly DraftVariable[];
  readonly panels: readonly DraftPanel[];
}

export interface Saved extends Draft {
  readonly uid: string;
  readonly version: number;
}

const mostSteps = 200;

export interface Steps {
  readonly past: readonly Draft[];
  readonly now: Draft;
  readonly future: readonly Draft[];
  /** Handle that made the last change; the next change by the same one joins its step. */
  readonly by?: string | undefined;
}

/** A draft with every change undone and made again. */
export function useSteps(begin: Draft, before?: Steps) {
  const [steps, set] = useState<Steps>(before ?? { past: [], now: begin, future: [] });
  const change = useCallback((next: (draft: Draft) => Draft, by?: string): void => {
    set((steps) => {
      const { past, now, by: before } = steps;
      const after = next(now);
      return after === now
        ? steps
        : {
            past: by !== undefined && by === before ? past : [...past, now].slice(-mostSteps),
            now: after,
            future: [],
            by,
          };
    });
  }, []);
  const undo = useCallback(
    () =>
      set((steps) => {
        const { past, now, future } = steps;
        return past.length === 0
          ? steps
          : { past: past.slice(0, -1), now: past.at(-1)!, future: [now, ...future] };
      }),
    [],
  );
  const redo = useCallback(
    () =>
      set((steps) => {
        const { past, now, future } = steps;
        return future.length === 0
          ? steps
          : { past: [...past, now], now: future[0]!, future: future.slice(1) };
      }),
    [],
  );
  return {
    all: steps,
    draft: steps.now,
    change,
    undo,
    redo,
    mayUndo: steps.past.length > 0,
    mayRedo: steps.future.length > 0,
  };
}

/** Returns the body that is sent for a draft. */
export const sent = ({ title, variables, panels }: Draft) => ({
  title,
  variables,
  panels: panels.map(({ key: _, ...panel }) => panel),
});

/** Loads what is edited, once: what others change meanwhile is noticed when it is saved. */
export function useSaved(path: string | undefined) {
  const [found, setFound] = useState<{ value?: Saved; error?: ApiError }>({});
  useEffect(() => {
    if (path === undefined) {
      return;
    }
    const round = new AbortController();
    api
      .get<Saved>(path, {}, round.signal)
      .then((value) => setFound({ value }))
      .catch((error: unknown) => {
        if (!round.signal.aborted) {
          setFound({ error: asApiError(error) });
        }
      });
    return () => round.abort();
  }, [path]);
  return found;
}

/** Draws a draft with its data; moving a panel asks nothing. */
export function usePreview(uid: string, draft: Draft, query: Query) {
  const [found, setFound] = useState<{ value?: Rendered; error?: ApiError }>({});
  const { variables, panels } = sent(draft);
  const asked = JSON.stringify([
    variables,
    panels.map(({ position: _, ...panel }) => panel),
    query,
  ]);
  useEffect(() => {
    const round = new AbortController();
    const path = `/observability/dashboards/${encodeURIComponent(uid)}/preview`;
    api
      .post<Rendered>(path, { variables, panels }, { query, signal: round.signal })
      .then((value) => setFound({ value }))
      .catch((error: unknown) => {
        if (!round.signal.aborted) {
          setFound(({ value }) => ({ ...(value && { value }), error: asApiError(error) }));
        }
      });
    return () => round.abort();
  }, [asked]);
  return found;
}
