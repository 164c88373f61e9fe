import type { Scene } from '../world/scene.ts';
import type { Component } from '../world/world.ts';
import type { Curve, Labels, Samples } from './samples.ts';

const names = {
  tempo: {
    calls: 'traces_spanmetrics_calls_total',
    duration: 'traces_spanmetrics_latency',
    unit: 1,
    service: 'service',
  },
  connector: {
    calls: 'traces_span_metrics_calls_total',
    duration: 'traces_span_metrics_duration_milliseconds',
    unit: 1_000,
    service: 'service_name',
  },
  connector_old: {
    calls: 'calls_total',
    duration: 'duration_milliseconds',
    unit: 1_000,
    service: 'service_name',
  },
} as const;

export const spanMetricNames = (style: keyof typeof names): (typeof names)[typeof style] =>
  names[style];

/** Exposes what a collector counts from spans: Tempo's generator, or the connector of OpenTelemetry under its new or old names. */
export function exposeSpanMetrics(samples: Samples, { world, lives }: Scene): void {
  const style = world.vocabulary.spanMetrics;
  if (style === undefined) {
    return;
  }
  const { calls, duration, unit, service } = names[style];
  const target = {
    labels: style === 'tempo' ? {} : { job: 'otel-collector' },
    phaseMs: 3_000,
    isUp: () => 1,
  };
  const spans = (
    component: Component,
    kind: string,
    name: string,
    more: Labels,
    life: {
      readonly rate: Float64Array;
      readonly errors: Float64Array;
      readonly mean: Float64Array;
    },
  ): void => {
    const labels = {
      [service]: component.name,
      span_kind: `SPAN_KIND_${kind}`,
      span_name: name,
      ...more,
    };
    const ok: Curve = (step) => life.rate[step]! * (1 - life.errors[step]!);
    const bad: Curve = (step) => life.rate[step]! * life.errors[step]!;
    samples.counter(target, calls, { ...labels, status_code: 'STATUS_CODE_UNSET' }, ok);
    samples.counter(target, calls, { ...labels, status_code: 'STATUS_CODE_ERROR' }, bad);
    samples.histogram(target, duration, labels, {
      perSecond: (step) => life.rate[step]!,
      mean: (step) => life.mean[step]!,
      unit,
    });
  };
  for (const component of world.components.filter(({ role }) => role === 'service')) {
    spans(component, 'SERVER', `GET /${component.name}`, {}, lives.components[component.id]!);
  }
  world.calls.forEach((call, at) => {
    const [from, to] = [world.components[call.from]!, world.components[call.to]!];
    const life = lives.calls[at]!;
    if (call.isAsync || from.role !== 'service') {
      return;
    }
    spans(from, 'CLIENT', `call ${to.name}`, {}, life);
    if (style === 'tempo') {
      const pair = {
        client: from.name,
        server: to.name,
        connection_type: to.role === 'store' ? 'database' : '',
      };
      samples.counter(
        target,
        'traces_service_graph_request_total',
        pair,
        (step) => life.rate[step]!,
      );
      samples.counter(
        target,
        'traces_service_graph_request_failed_total',
        pair,
        (step) => life.rate[step]! * life.errors[step]!,
      );
      samples.histogram(target, 'traces_service_graph_request_server_seconds', pair, {
        perSecond: (step) => life.rate[step]!,
        mean: (step) => life.mean[step]!,
        unit: 1,
      });
    }
  });
}

/** Spans of one name, by the step in which they began. */
export interface SpanCount {
  readonly service: string;
  readonly name: string;
  readonly kind: 'SERVER' | 'CLIENT';
  readonly failed: boolean;
  readonly seconds: readonly number[][];
}

const bounds = Array.from({ length: 14 }, (_, at) => 0.002 * 2 ** at);

/** Exposes what svc itself would have counted from the spans while they came in. */
export function exposeCounted(samples: Samples, counts: readonly SpanCount[]): void {
  const target = { labels: {}, phaseMs: 0, isUp: () => 1 };
  for (const { service, name, kind, failed, seconds } of counts) {
    const labels = {
      service,
      span_name: name,
      span_kind: `SPAN_KIND_${kind}`,
      status_code: `STATUS_CODE_${failed ? 'ERROR' : 'UNSET'}`,
    };
    samples.exact(
      target,
      'traces_spanmetrics_calls_total',
      labels,
      (step) => seconds[step]!.length,
    );
    samples.exact(
      target,
      'traces_spanmetrics_latency_count',
      labels,
      (step) => seconds[step]!.length,
    );
    samples.exact(target, 'traces_spanmetrics_latency_sum', labels, (step) =>
      seconds[step]!.reduce((sum, one) => sum + one, 0),
    );
    for (const bound of [...bounds, Infinity]) {
      samples.exact(
        target,
        'traces_spanmetrics_latency_bucket',
        { ...labels, le: bound === Infinity ? '+Inf' : String(bound) },
        (step) => seconds[step]!.filter((one) => one <= bound).length,
      );
    }
  }
}
