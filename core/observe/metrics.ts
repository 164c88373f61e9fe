import * as prom from 'prom-client';

import type { Disposer, Metrics, SelfSample } from '../sdk/index.ts';
import { Families, type Family, type Shape } from './families.ts';
import { addProcessMetrics } from './process-metrics.ts';

/** Ties a metric to the scope that declared it. */
export type Own = (label: string, undo: Disposer) => unknown;

export interface SelfMetricsOptions {
  readonly version: string;
  /** Series that one metric may have; default 1,000. */
  readonly seriesLimit?: number;
}

type CoreMetrics = ReturnType<typeof coreMetrics>;

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of this process about itself, in a registry of its own. */
export class SelfMetrics {
  readonly core: CoreMetrics;
  readonly #registry = new prom.Registry();
  readonly #families: Families;
  readonly #closeProcess: () => void;

  constructor({ version, seriesLimit = 1_000 }: SelfMetricsOptions) {
    const registers = [this.#registry];
    this.#closeProcess = addProcessMetrics(this.#registry);
    new prom.Gauge({
      name: 'svc_build_info',
      help: 'The running version.',
      labelNames: ['version'],
      registers,
    }).set({ version }, 1);
    const foldedSamples = new prom.Counter({
      name: 'svc_metrics_folded_total',
      help: 'Samples of a new label combination after the series limit of their metric, counted as "other".',
      labelNames: ['metric'],
      registers,
    });
    this.#families = new Families(this.#registry, seriesLimit, (metric) =>
      foldedSamples.inc({ metric }),
    );
    this.core = coreMetrics(declaring(this.#families, 'core', 'svc', () => undefined));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Declarations that are alive, for the census. */
  get declarations(): number {
    return this.#families.users;
  }

  /** The metrics of one generation of a plugin, named `svc_<plugin>_<name>`. */
  forPlugin(pluginId: string, own: Own): Metrics {
    return declaring(this.#families, pluginId, `svc_${pluginId.replaceAll('-', '_')}`, own);
  }

  /** Everything in the Prometheus text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The same as values; histograms as their parts. */
  async samples(): Promise<readonly SelfSample[]> {
    return (await this.#registry.getMetricsAsJSON()).flatMap(samplesOf);
  }

  /** Stops measuring the event loop. */
  close(): void {
    this.#closeProcess();
  }
}

function samplesOf({
  name,
  values,
}: prom.MetricObjectWithValues<prom.MetricValue<string>>): SelfSample[] {
  return values.map(({ value, labels, metricName = name }: prom.MetricValueWithName<string>) => ({
    name: metricName,
    labels: Object.fromEntries(
      Object.entries(labels).map(([label, text]) => [
        label,
        label === 'le' ? boundary(text) : String(text),
      ]),
    ),
    value,
  }));
}

/** Formats the upper bound of a bucket as the text format does. */
const boundary = (le: string | number | undefined): string =>
  le === Infinity ? '+Inf' : String(le);

/** Declares the metrics of core. */
const coreMetrics = (metrics: Metrics) => ({
  httpRequests: metrics.counter('http_requests_total', 'Requests answered.', [
    'method',
    'route',
    'status',
  ]),
  httpSeconds: metrics.histogram(
    'http_request_duration_seconds',
    'Time to answer a request.',
    requestBuckets,
    ['method', 'route'],
  ),
  /** 1 for the state that a plugin is in, 0 for those it has left. */
  pluginState: metrics.gauge('plugin_state', 'Whether a plugin is in this state.', [
    'plugin',
    'state',
  ]),
  pluginStrikes: metrics.counter('plugin_strikes_total', 'Errors on the account of a plugin.', [
    'plugin',
  ]),
  eventsDropped: metrics.counter('events_dropped_total', 'Events that a slow subscriber missed.', [
    'subscriber',
  ]),
  threadRestarts: metrics.counter(
    'thread_restarts_total',
    'Plugin threads restarted after they crashed.',
    ['plugin', 'thread'],
  ),
  threadHeap: metrics.gauge(
    'thread_heap_bytes',
    "JavaScript heap of a plugin's thread, as last reported.",
    ['plugin', 'thread'],
  ),
  childRestarts: metrics.counter(
    'child_restarts_total',
    'Child processes restarted after they crashed.',
    ['child'],
  ),
});

/** Declares under one prefix on one owner's account; the same name again gives the same metric. */
function declaring(families: Families, owner: string, prefix: string, own: Own): Metrics {
  const declared = new Map<string, Family>();
  const declare = (name: string, shape: Shape): Family => {
    const full = `${prefix}_${name}`;
    let family = declared.get(name);
    if (!family) {
      own(`metric ${full}`, () => family && families.leave(full, family));
      family = families.join(owner, full, shape);
      declared.set(name, family);
    }
    return family;
  };
  return {
    counter(name, help, labels = []) {
      const { metric, series } = declare(name, { kind: 'counter', help, labels });
      return { add: (amount = 1, given) => (metric as prom.Counter).inc(series(given), amount) };
    },
    gauge(name, help, labels = []) {
      const { metric, series } = declare(name, { kind: 'gauge', help, labels });
      return { set: (value, given) => (metric as prom.Gauge).set(series(given), value) };
    },
    histogram(name, help, buckets, labels = []) {
      const { metric, series } = declare(name, { kind: 'histogram', help, labels, buckets });
      return {
        observe: (value, given) => (metric as prom.Histogram).observe(series(given), value),
      };
    },
  };
}
