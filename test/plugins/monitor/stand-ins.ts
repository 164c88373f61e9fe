import type { LogQueries } from 'svc/contracts/logs';
import type { FoundTrace, TraceQueries } from 'svc/contracts/traces';
import type {
  LabelRecord,
  MatrixAnswer,
  MetricsQueries,
  Notes,
  QueryOptions,
} from 'svc/contracts/metricsdb';

import { queryError } from 'svc/query';

import { checkQuery } from '../../../plugins/metricsdb/service/answers.ts';

export interface Asked {
  readonly kind: 'range' | 'instant' | 'series' | 'lines' | 'traces';
  readonly query: string;
  readonly options: QueryOptions | undefined;
  readonly window?: { readonly start: number; readonly end: number; readonly step: number };
}

export const matrix = (
  series: readonly LabelRecord[],
  points = 1,
  warnings: readonly string[] = [],
): MatrixAnswer & Notes => ({
  type: 'matrix',
  labels: series,
  times: series.map(() => Float64Array.from({ length: points }, (_, index) => index * 1_000)),
  values: series.map(() => Float64Array.from({ length: points }, (_, index) => index)),
  warnings,
});

export interface StandIns {
  readonly asked: Asked[];
  readonly services: Readonly<Record<string, object>>;
  /** Answers range queries. */
  range: (query: string, options: QueryOptions | undefined) => Promise<MatrixAnswer & Notes>;
  series: (selector: string) => Promise<readonly LabelRecord[]>;
  traces: readonly FoundTrace[];
}

/** Stores that note what they are asked, and answer whatever the test says. */
export function standIns(): StandIns {
  const asked: Asked[] = [];
  const ins: StandIns = {
    asked,
    range: async () => matrix([{ __name__: 'up' }]),
    series: async () => [],
    traces: [],
    services: {},
  };
  const metrics: MetricsQueries = {
    async range(query, window, options) {
      asked.push({ kind: 'range', query, options, window });
      return await ins.range(query, options);
    },
    async instant(query, time, options) {
      asked.push({ kind: 'instant', query, options });
      return { type: 'scalar', time, value: 1, warnings: [] };
    },
    async series([selector = ''], _window, options) {
      asked.push({ kind: 'series', query: selector, options });
      return await ins.series(selector);
    },
    check: async (query) => checkQuery(query),
    status: async () => ({ driver: 'embedded', ok: true, delayMs: 0 }),
  };
  const logs: Pick<LogQueries, 'lines' | 'check'> = {
    async lines(query, _window, options) {
      asked.push({ kind: 'lines', query, options });
      return { type: 'streams', lines: [], partial: false, warnings: [] };
    },
    check: async (query) => ({ type: query.startsWith('{') ? 'lines' : 'vector', printed: query }),
  };
  const traces: Pick<TraceQueries, 'search' | 'check'> = {
    async search(query, _window, options) {
      asked.push({ kind: 'traces', query, options });
      return { traces: ins.traces, partial: false };
    },
    async check(query) {
      if (!query.startsWith('{')) {
        throw queryError('bad_data', 'no TraceQL');
      }
      return { printed: query };
    },
  };
  return Object.assign(ins, {
    services: { 'metrics.queries': metrics, 'logs.queries': logs, 'traces.queries': traces },
  });
}
