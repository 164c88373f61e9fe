import { day, by, groupingOf, type Kind, lastingOf } from './kind.ts';

/** Calls that came in from elsewhere: a service is as slow as its callers see it. */
const served = 'span_kind=~"SPAN_KIND_SERVER|SPAN_KIND_CONSUMER"';
const leastCalls = 20;

const longestService = 200;
const selector = (service: string, more: string): string =>
  `{service=${JSON.stringify(service)}, ${more}}`;

/** A percentile of the durations of a service, from what is counted when spans come in. */
export const traceLatency: Kind = {
  read(fields) {
    const service = fields.text('service', longestService);
    const percentile = fields.number('percentile', { above: 0, below: 100 });
    const above = fields.number('above_ms', { least: 0 });
    const window = fields.span('window', { minMs: 60_000, maxMs: day }).text;
    const lasting = fields.lasting();
    fields.refuseOthers();
    return { service, percentile, above_ms: above, window, ...lasting };
  },
  queryTexts: () => [],
  leg({ service, percentile, above_ms: above, window, for: lasting }, frame) {
    const part = Number(percentile) < 1 ? Number(percentile) : Number(percentile) / 100;
    const rate = `rate(traces_spanmetrics_latency_bucket${selector(String(service), served)}[${window}])`;
    const measure = `histogram_quantile(${Number(part.toPrecision(12))}, sum${by(['le', ...groupingOf(frame)])} (${rate})) * 1000`;
    return {
      store: 'metrics',
      query: `${measure} > ${above}`,
      measure,
      threshold: Number(above),
      ...lastingOf(lasting),
    };
  },
};

/** Share of failed calls of a service, once there are enough calls to judge. */
export const traceErrorRate: Kind = {
  read(fields) {
    const service = fields.text('service', longestService);
    const above = fields.number('above_percent', { least: 0, below: 100 });
    const window = fields.span('window', { minMs: 60_000, maxMs: day }).text;
    const lasting = fields.lasting();
    fields.refuseOthers();
    return { service, above_percent: above, window, ...lasting };
  },
  queryTexts: () => [],
  leg({ service, above_percent: above, window, for: lasting }, frame) {
    const labels = by(groupingOf(frame));
    const calls = (func: string, more: string): string =>
      `sum${labels} (${func}(traces_spanmetrics_calls_total${selector(String(service), more)}[${window}]))`;
    const measure = `100 * ${calls('rate', `${served}, status_code="STATUS_CODE_ERROR"`)} / ${calls('rate', served)}`;
    return {
      store: 'metrics',
      query: `${measure} > ${above} and ${calls('increase', served)} >= ${leastCalls}`,
      measure,
      threshold: Number(above),
      ...lastingOf(lasting),
    };
  },
};
