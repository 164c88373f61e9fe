import { formatDuration } from 'svc/query';

import type { MetricOrigin } from './dashboard.ts';
import { metricNames } from './metric-names.ts';
import { originOf } from './origins.ts';
import type { Questions } from './questions.ts';
import type { Window } from './window.ts';

export interface MissingMetric {
  readonly name: string;
  readonly seen: 'in_window' | 'earlier' | 'never';
  readonly brought_by?: string;
}

/** Why a panel is empty though nothing failed. */
export interface Missing {
  readonly message: string;
  readonly metrics: readonly MissingMetric[];
}

const week = 7 * 86_400_000;

export interface Explainer {
  readonly questions: Questions;
  readonly window: Window;
  readonly origins: readonly MetricOrigin[];
}

/** Looks for every metric of the query: in the window, then in the week before its end. */
export async function explainMissing(query: string, { questions, window, origins }: Explainer): Promise<Missing> {
  const since = Math.min(window.from, window.to - week);
  const metrics = await Promise.all(
    metricNames(query).map(async (name): Promise<MissingMetric> => {
      const selector = `{__name__="${name}"}`;
      const isThere = async (from?: number): Promise<boolean> => (await questions.series(selector, from)).length > 0;
      const seen = (await isThere()) ? 'in_window' : since < window.from && (await isThere(since)) ? 'earlier' : 'never';
      const origin = seen === 'in_window' ? undefined : originOf(name, origins);
      return { name, seen, ...(origin !== undefined && { brought_by: origin }) };
    }),
  );
  const span = formatDuration(roundly(window.to - window.from));
  const before = formatDuration(roundly(window.to - since));
  return {
    message: metrics.length === 0 ? `the query has no result in the last ${span}` : metrics.map((metric) => sentence(metric, span, before)).join('; '),
    metrics,
  };
}

function sentence({ name, seen, brought_by: origin }: MissingMetric, span: string, before: string): string {
  switch (seen) {
    case 'in_window':
      return `${name} is there, but no series of it in these ${span} fits the query`;
    case 'earlier':
      return `no ${name} in these ${span}, though there was in the ${before} before their end: whoever sends it has stopped${origin === undefined ? '' : ` (${origin})`}`;
    case 'never':
      return `no such metric as ${name} in ${before}; ${origin === undefined ? 'nobody here is known to bring it' : `it comes from ${origin}`}`;
  }
}

/** People read minutes. */
const roundly = (ms: number): number => (ms < 60_000 ? Math.ceil(ms / 1_000) * 1_000 : Math.round(ms / 60_000) * 60_000);
