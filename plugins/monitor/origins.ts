import type { MetricOrigin } from './dashboard.ts';

/** Who brings the metrics that this house knows; what does not end in _ is a whole name. */
const known: readonly MetricOrigin[] = [
  { prefix: 'node_', text: 'the plugin hostmetrics of the edge on that host; or a node exporter whose Prometheus writes here' },
  { prefix: 'procmetrics_', text: 'the plugin procmetrics of the edge on that host' },
  { prefix: 'traces_spanmetrics_', text: 'the plugin traces, which derives them from the spans it is sent at /v1/traces' },
  { prefix: 'svc_', text: 'this service itself, through the plugin self while its setting self.metrics is on' },
  { prefix: 'process_', text: 'this service itself, through the plugin self while its setting self.metrics is on; or another program' },
  { prefix: 'nodejs_', text: 'this service itself, through the plugin self while its setting self.metrics is on' },
  { prefix: 'svc_alert_', text: 'the plugin alert, through the plugin self' },
  { prefix: 'ALERTS', text: 'the plugin alert, once a rule fires' },
  { prefix: 'up', text: 'a Prometheus that scrapes targets and writes here' },
  { prefix: 'scrape_', text: 'a Prometheus that scrapes targets and writes here' },
];

/** What a dashboard says of its own metrics goes before what the house knows. */
export function originOf(metric: string, told: readonly MetricOrigin[]): string | undefined {
  const longest = (origins: readonly MetricOrigin[]): string | undefined =>
    origins
      .filter(({ prefix }) => (prefix.endsWith('_') ? metric.startsWith(prefix) : metric === prefix))
      .toSorted((a, b) => b.prefix.length - a.prefix.length)[0]?.text;
  return longest(told) ?? longest(known);
}
