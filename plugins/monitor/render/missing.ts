import { formatDuration } from 'svc/query';

import type { MetricOrigin } from '../model/dashboard.ts';
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
const mostMetrics = 8;

export interface Explainer {
  readonly questions: Questions;
  readonly window: Window;
  readonly origins: readonly MetricOrigin[];
}

/** Looks for every metric of the query: in the window, then in the week before its end. */
export async function explainMissing(
  query: string,
  { questions, window, origins }: Explainer,
): Promise<Missing> {
  const since = Math.min(window.from, window.to - week);
  const metrics = await Promise.all(
    (await questions.metricNames(query))
      .slice(0, mostMetrics)
      .map(async (name): Promise<MissingMetric> => {
        const selector = `{__name__="${name}"}`;
        const isThere = async (from?: number): Promise<boolean> =>
          (await questions.series(selector, from)).length > 0;
        const seen = (await isThere())
          ? 'in_window'
          : since < window.from && (await isThere(since))
            ? 'earlier'
            : 'never';
        const origin = seen === 'in_window' ? undefined : originOf(name, origins);
        return { name, seen, ...(origin !== undefined && { brought_by: origin }) };
      }),
  );
  const span = formatDuration(roundly(window.to - window.from));
  const before = formatDuration(roundly(window.to - since));
  return {
    message:
      metrics.length === 0
        ? `the query has no result in the last ${span}`
        : metrics.map((metric) => sentence(metric, span, before)).join('; '),
    metrics,
  };
}

function sentence(
  { name, seen, brought_by: origin }: MissingMetric,
  span: string,
  before: string,
): string {
  switch (seen) {
    case 'in_window':
      return `${name} has series in these ${span}, but none matches the query`;
    case 'earlier':
      return `${name} has no samples in these ${span}, but had some in the ${before} before their end: its sender has stopped${origin === undefined ? '' : ` (${origin})`}`;
    case 'never':
      return `no metric ${name} in the last ${before}; ${origin === undefined ? 'no known source sends it' : `it comes from ${origin}`}`;
  }
}

/** People read minutes. */
const roundly = (ms: number): number =>
  ms < 60_000 ? Math.ceil(ms / 1_000) * 1_000 : Math.round(ms / 60_000) * 60_000;

/** Origins of the metrics of built-in plugins; a prefix that does not end in _ is a whole name. */
const builtInOrigins: readonly MetricOrigin[] = [
  {
    prefix: 'node_',
    text: 'the plugin hostmetrics of the edge on that host; or a node exporter whose Prometheus writes here',
  },
  { prefix: 'procmetrics_', text: 'the plugin procmetrics of the edge on that host' },
  {
    prefix: 'traces_spanmetrics_',
    text: 'the plugin traces, which derives them from the spans it is sent at /v1/traces',
  },
  {
    prefix: 'svc_',
    text: 'this service itself, through the plugin self while its setting self.metrics is on',
  },
  {
    prefix: 'process_',
    text: 'this service itself, through the plugin self while its setting self.metrics is on; or another program',
  },
  {
    prefix: 'nodejs_',
    text: 'this service itself, through the plugin self while its setting self.metrics is on',
  },
  { prefix: 'svc_alert_', text: 'the plugin alert, through the plugin self' },
  { prefix: 'ALERTS', text: 'the plugin alert, once a rule fires' },
  { prefix: 'up', text: 'a Prometheus that scrapes targets and writes here' },
  { prefix: 'scrape_', text: 'a Prometheus that scrapes targets and writes here' },
];

/** Returns the origin of a metric; what a dashboard declares takes precedence. */
function originOf(metric: string, declared: readonly MetricOrigin[]): string | undefined {
  const longest = (origins: readonly MetricOrigin[]): string | undefined =>
    origins
      .filter(({ prefix }) =>
        prefix.endsWith('_') ? metric.startsWith(prefix) : metric === prefix,
      )
      .toSorted((a, b) => b.prefix.length - a.prefix.length)[0]?.text;
  return longest(declared) ?? longest(builtInOrigins);
}
