import { styleOf } from './metrics/requests.ts';
import { quantile95 } from './metrics/samples.ts';
import { spanMetricNames } from './metrics/span-metrics.ts';
import { consumerOf } from './metrics/stores.ts';
import type { Stream } from './log-lines.ts';
import type { WorldKind } from './world/world-kind.ts';
import type { Life } from './world/life.ts';
import type { Scene } from './world/scene.ts';
import { type Component, isQueue } from './world/world.ts';

/** A rule that somebody wrote on a symptom, and which component that is. */
export interface Alert {
  readonly symptom: number;
  readonly title: string;
  readonly kind: 'metric_raw' | 'log_volume' | 'trace_latency' | 'trace_error_rate';
  readonly condition: Readonly<Record<string, unknown>>;
}

interface Change {
  readonly component: Component;
  readonly measure: 'errors' | 'mean';
  readonly before: number;
  readonly after: number;
}

/** Rules that would fire at the end of a scene, one for each way in which each service suffers. */
export function alertsOf(
  scene: Scene,
  kind: WorldKind,
  streams: readonly Stream[],
): readonly Alert[] {
  const { world } = scene;
  const found: Alert[] = [];
  const changed = world.components
    .filter(({ role }) => role === 'service')
    .flatMap((component) => changesIn(scene, component));
  const { vocabulary } = world;
  const window = windowOf(scene);
  for (const one of changed) {
    if (kind === 'metrics' || kind === 'mixed') {
      found.push(...ofRequests(scene, one, window));
    }
    if (vocabulary.spanMetrics !== undefined && kind !== 'metrics') {
      found.push(...ofSpanMetrics(scene, one, window));
    }
    if (vocabulary.sampling > 0) {
      found.push(ofTraces(one));
    }
  }
  if (vocabulary.logFormat !== undefined) {
    found.push(...ofLogs(scene, streams));
  }
  if (vocabulary.storeMetrics) {
    found.push(...ofQueues(scene));
  }
  if (kind === 'metrics' || kind === 'mixed') {
    found.push(...ofSilence(scene));
  }
  return found;
}

const windowOf = ({ course }: Scene): string =>
  course.stepMs === 60_000 ? '5m' : course.stepMs === 30_000 ? '3m' : '2m';
const windowSteps = ({ course }: Scene): number =>
  Math.ceil(
    (course.stepMs === 60_000 ? 300_000 : course.stepMs === 30_000 ? 180_000 : 120_000) /
      course.stepMs,
  );

/** Returns the mean of the last window of a series, and of the time before anything happened. */
export function beforeAndAfter(
  scene: Scene,
  values: ArrayLike<number>,
): { readonly before: number; readonly after: number } {
  const { steps, faults } = scene.course;
  const onset = Math.min(steps - 2, ...faults.map((one) => one.onset));
  const part = (from: number, to: number): number => {
    let sum = 0;
    for (let step = from; step < to; step += 1) {
      sum += values[step]!;
    }
    return sum / Math.max(1, to - from);
  };
  return {
    before: part(Math.max(0, onset - 60), onset),
    after: part(steps - windowSteps(scene), steps),
  };
}

function changesIn(scene: Scene, component: Component): Change[] {
  const life: Life = scene.lives.components[component.id]!;
  // Nobody is told by what has gone silent.
  if (life.up[scene.course.steps - 1] === 0 || life.rate[scene.course.steps - 1]! < 0.3) {
    return [];
  }
  return (['errors', 'mean'] as const).flatMap((measure) => {
    const { before, after } = beforeAndAfter(scene, life[measure]);
    const isWorse =
      measure === 'errors' ? after > before + 0.06 : after > before * 2 && after > before + 0.04;
    return isWorse ? [{ component, measure, before, after }] : [];
  });
}

/** Label matchers that single a service out in this world. */
export function selectorOf({ world }: Scene, component: Component): string {
  const { serviceLabel, platform, jobNames } = world.vocabulary;
  const style = styleOf(world.vocabulary, component).name;
  return style === 'Istio'
    ? `destination_workload="${component.name}",reporter="destination"`
    : style === 'ingress-nginx'
      ? `exported_service="${component.name}"`
      : serviceLabel !== undefined
        ? `${serviceLabel}="${component.name}"`
        : jobNames || platform === 'machines'
          ? `job="${component.name}"`
          : platform === 'kubernetes'
            ? `container="${component.name}"`
            : `instance=~"${component.name}(-[0-9])?:.+"`;
}

function ofRequests(
  scene: Scene,
  { component, measure, before, after }: Change,
  window: string,
): Alert[] {
  const { counter, duration } = styleOf(scene.world.vocabulary, component);
  const selector = selectorOf(scene, component);
  const base = { symptom: component.id, kind: 'metric_raw' } as const;
  if (measure === 'errors') {
    const status =
      counter ??
      (duration?.status && {
        ...duration.status,
        name: `${duration.name}_count`,
        status: duration.status.name,
      });
    if (status === undefined) {
      return [];
    }
    const bad = /^\d{3}$/.test(status.bad) ? '=~"5.."' : `="${status.bad}"`;
    const rate = (more: string): string =>
      `sum(rate(${status.name}{${selector}${more}}[${window}]))`;
    return [
      {
        ...base,
        title: `${component.name} returns errors to its callers`,
        condition: {
          expr: `${rate(`,${status.status}${bad}`)} / ${rate('')} > ${figure(before + 0.4 * (after - before))}`,
        },
      },
    ];
  }
  if (duration === undefined) {
    return [];
  }
  const unit = duration.unit === 'ms' ? 1_000 : 1;
  const isHistogram = duration.type === 'histogram';
  const expr = isHistogram
    ? `histogram_quantile(0.95, sum by (le) (rate(${duration.name}_bucket{${selector}}[${window}])))`
    : `sum(rate(${duration.name}_sum{${selector}}[${window}])) / sum(rate(${duration.name}_count{${selector}}[${window}]))`;
  const [low, high] = isHistogram
    ? [quantile95(before), Math.min(9, quantile95(after))]
    : [before, after];
  return high < low * 1.6
    ? []
    : [
        {
          ...base,
          title: `${component.name} is slow`,
          condition: { expr: `${expr} > ${figure((low + 0.4 * (high - low)) * unit)}` },
        },
      ];
}

function ofSpanMetrics(
  { world }: Scene,
  { component, measure, before, after }: Change,
  window: string,
): Alert[] {
  const { calls, duration, unit, service } = spanMetricNames(world.vocabulary.spanMetrics!);
  const selector = `${service}="${component.name}",span_kind="SPAN_KIND_SERVER"`;
  const base = { symptom: component.id, kind: 'metric_raw' } as const;
  if (measure === 'errors') {
    return [
      {
        ...base,
        title: `${component.name} returns errors to its callers`,
        condition: {
          expr: `sum(rate(${calls}{${selector},status_code="STATUS_CODE_ERROR"}[${window}])) / sum(rate(${calls}{${selector}}[${window}])) > ${figure(before + 0.4 * (after - before))}`,
        },
      },
    ];
  }
  const [low, high] = [quantile95(before), Math.min(9, quantile95(after))];
  return high < low * 1.6
    ? []
    : [
        {
          ...base,
          title: `${component.name} is slow`,
          condition: {
            expr: `histogram_quantile(0.95, sum by (le) (rate(${duration}_bucket{${selector}}[${window}]))) > ${figure((low + 0.4 * (high - low)) * unit)}`,
          },
        },
      ];
}

const ofTraces = ({ component, measure, before, after }: Change): Alert =>
  measure === 'errors'
    ? {
        symptom: component.id,
        title: `${component.name} returns errors to its callers`,
        kind: 'trace_error_rate',
        condition: {
          service: component.name,
          above_percent: Math.max(1, Math.round(100 * (before + 0.25 * (after - before)))),
          window: '10m',
        },
      }
    : {
        symptom: component.id,
        title: `${component.name} is slow`,
        kind: 'trace_latency',
        condition: {
          service: component.name,
          percentile: 95,
          above_ms: Math.round(1_000 * (before * 1.5 + 0.2 * (after - before))),
          window: '10m',
        },
      };

/** Lines with errors, or of slow calls, where there are far more of them than there were. */
function ofLogs(scene: Scene, streams: readonly Stream[]): Alert[] {
  const { world, end, course } = scene;
  const { logLabel } = world.vocabulary;
  const windowMs = 300_000;
  const onset = Math.min(
    ...course.faults.map((one) => end - (course.steps - 1 - one.onset) * course.stepMs),
    end - 2 * windowMs,
  );
  return world.components
    .filter(({ role }) => role === 'service')
    .flatMap((component) => {
      const lines = streams
        .filter(({ stream }) => stream[logLabel] === component.name)
        .flatMap(({ values }) => values);
      return (
        [
          ['ERROR', /error/i, '(?i)error'],
          ['slow calls', /slow call/, 'slow call'],
        ] as const
      ).flatMap(([title, shape, regex]): Alert[] => {
        const hits = lines
          .filter(([, line]) => shape.test(line))
          .map(([at]) => Number(at.slice(0, -6)));
        const after = hits.filter((at) => at > end - windowMs).length;
        const before = hits.filter((at) => at > onset - 4 * windowMs && at <= onset).length / 4;
        return after < 8 || after < 4 * before
          ? []
          : [
              {
                symptom: component.id,
                title: `${title} in ${component.name}`,
                kind: 'log_volume',
                condition: {
                  expr: `sum(count_over_time({${logLabel}="${component.name}"} |~ "${regex}" [5m])) > ${Math.ceil(before + 0.35 * (after - before))}`,
                },
              },
            ];
      });
    });
}

function ofQueues(scene: Scene): Alert[] {
  return scene.world.components
    .filter(({ engine }) => isQueue(engine))
    .flatMap((queue): Alert[] => {
      const { before, after } = beforeAndAfter(scene, scene.lives.components[queue.id]!.depth);
      const consumer = consumerOf(scene, queue);
      if (after < before * 4 + 100 || consumer === undefined) {
        return [];
      }
      const threshold = Math.ceil(before + 0.4 * (after - before));
      const expr =
        queue.engine === 'kafka'
          ? `sum by (consumergroup, topic) (kafka_consumergroup_lag{consumergroup="${consumer.name}"}) > ${threshold}`
          : `rabbitmq_queue_messages_ready{queue="tasks"} > ${threshold}`;
      return [
        {
          symptom: queue.id,
          title: `messages are piling up in ${queue.name}`,
          kind: 'metric_raw',
          condition: { expr },
        },
      ];
    });
}

/** A target that does not answer its scrapes. */
function ofSilence(scene: Scene): Alert[] {
  const { world, lives, course } = scene;
  return world.components
    .filter(
      ({ role, id }) =>
        role === 'service' &&
        lives.components[id]!.up[course.steps - 1] === 0 &&
        styleOf(world.vocabulary, { id, language: world.components[id]!.language }).name !==
          'ingress-nginx',
    )
    .map((component) => ({
      symptom: component.id,
      title: `${component.name} is down`,
      kind: 'metric_raw',
      condition: {
        expr: `min(up{${styleOf(world.vocabulary, component).name === 'Istio' ? instanceSelector(scene, component) : selectorOf(scene, component)}}) == 0`,
      },
    }));
}

function instanceSelector({ world }: Scene, component: Component): string {
  const { serviceLabel, platform, jobNames } = world.vocabulary;
  return serviceLabel !== undefined
    ? `${serviceLabel}="${component.name}"`
    : jobNames
      ? `job="${component.name}"`
      : platform === 'kubernetes'
        ? `container="${component.name}"`
        : platform === 'docker'
          ? `instance=~"${component.name}(-[0-9])?:.+"`
          : `job="${component.name}"`;
}

/** Rules of a calm world: one that is too tight, on whichever service has the measure. */
export function tightAlerts(
  scene: Scene,
  kind: WorldKind,
  streams: readonly Stream[],
): readonly Alert[] {
  const { world, lives, course } = scene;
  const found: Alert[] = [];
  for (const component of world.components.filter(
    ({ role, id }) => role === 'service' && lives.components[id]!.rate[course.steps - 1]! > 1,
  )) {
    const { after } = beforeAndAfter(scene, lives.components[component.id]!.mean);
    const usual = { component, measure: 'mean', before: after * 0.3, after: after * 0.95 } as const;
    if (kind === 'metrics' || kind === 'mixed') {
      found.push(...ofRequests(scene, usual, windowOf(scene)));
    }
    if (world.vocabulary.spanMetrics !== undefined && kind !== 'metrics') {
      found.push(...ofSpanMetrics(scene, usual, windowOf(scene)));
    }
    if (world.vocabulary.sampling > 0) {
      found.push({
        ...ofTraces(usual),
        condition: {
          service: component.name,
          percentile: 50,
          above_ms: Math.round(after * 300),
          window: '10m',
        },
      });
    }
    if (
      world.vocabulary.logFormat !== undefined &&
      streams.some(
        ({ stream, values }) =>
          stream[world.vocabulary.logLabel] === component.name && values.length > 10,
      )
    ) {
      found.push({
        symptom: component.id,
        title: `${component.name} logs a lot`,
        kind: 'log_volume',
        condition: {
          expr: `sum(count_over_time({${world.vocabulary.logLabel}="${component.name}"}[15m])) > 2`,
        },
      });
    }
  }
  return found;
}

const figure = (value: number): number => Number(value.toPrecision(3));
