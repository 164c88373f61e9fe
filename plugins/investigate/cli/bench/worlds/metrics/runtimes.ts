import type { Life } from '../world/life.ts';
import { type Scene, versionAt } from '../world/scene.ts';
import type { Component } from '../world/world.ts';
import type { Curve, Samples, Target } from './samples.ts';

/** Exposes the runtime of a service: process, heap, collector, threads, pools. */
export function exposeRuntime(
  samples: Samples,
  scene: Scene,
  component: Component,
  target: Target,
): void {
  const life = scene.lives.components[component.id]!;
  const share = 1 / component.instances.length;
  const cpu: Curve = (step) => life.cpu[step]! * share;
  const memory: Curve = (step) => life.memory[step]!;
  const inFlight: Curve = (step) => life.rate[step]! * life.mean[step]! * share;
  const pressure: Curve = (step) => Math.min(1, life.memory[step]! / component.memoryLimit);
  const version = versionAt(scene, component);
  if (component.language !== 'java') {
    samples.sum(target, 'process_cpu_seconds_total', {}, cpu);
    samples.gauge(target, 'process_resident_memory_bytes', {}, memory);
    samples.gauge(target, 'process_open_fds', {}, (step) => 30 + Math.round(inFlight(step) * 2));
    samples.gauge(target, 'process_max_fds', {}, () => 65_536);
  }
  samples.gauge(target, 'process_start_time_seconds', {}, startOf(scene, component));
  exposeLanguage(samples, component, target, { cpu, memory, inFlight, pressure, life });
  exposePool(samples, scene, component, target);
  samples.gauge(target, 'app_build_info', { version: component.version }, (step) =>
    version(step) === component.version ? 1 : Number.NaN,
  );
  if (version(scene.course.steps - 1) !== component.version) {
    samples.gauge(target, 'app_build_info', { version: version(scene.course.steps - 1) }, (step) =>
      version(step) === component.version ? Number.NaN : 1,
    );
  }
}

/** Seconds since 1970 at which the process of a step began. */
function startOf(scene: Scene, component: Component): Curve {
  const { lives, course, end } = scene;
  const { restarts } = lives.components[component.id]!;
  const version = versionAt(scene, component);
  return (step) => {
    let at = step;
    while (at > 0 && restarts[at] === restarts[at - 1] && version(at) === version(at - 1)) {
      at -= 1;
    }
    return at === 0
      ? end / 1_000 - 90_000 - component.id * 777
      : Math.floor((end - (course.steps - 1 - at) * course.stepMs) / 1_000);
  };
}

interface Usage {
  readonly cpu: Curve;
  readonly memory: Curve;
  readonly inFlight: Curve;
  /** Share of the limit of memory that is in use. */
  readonly pressure: Curve;
  readonly life: Life;
}

function exposeLanguage(
  samples: Samples,
  component: Component,
  target: Target,
  { cpu, memory, inFlight, pressure, life }: Usage,
): void {
  const share = 1 / component.instances.length;
  switch (component.language) {
    case 'go':
      samples.gauge(target, 'go_goroutines', {}, (step) => 24 + Math.round(inFlight(step) * 3));
      samples.gauge(target, 'go_memstats_heap_inuse_bytes', {}, (step) => memory(step) * 0.7);
      samples.sum(
        target,
        'go_gc_duration_seconds_sum',
        {},
        (step) => 0.000_3 + 0.02 * Math.max(0, pressure(step) - 0.8),
      );
      break;
    case 'java':
      samples.gauge(
        target,
        'jvm_memory_used_bytes',
        { area: 'heap', id: 'G1 Old Gen' },
        (step) => memory(step) * 0.75,
      );
      samples.gauge(
        target,
        'jvm_memory_max_bytes',
        { area: 'heap', id: 'G1 Old Gen' },
        () => component.memoryLimit * 0.75,
      );
      samples.sum(
        target,
        'jvm_gc_pause_seconds_sum',
        { action: 'end of minor GC', cause: 'G1 Evacuation Pause' },
        (step) => 0.002 + 2 * Math.max(0, pressure(step) - 0.8),
      );
      samples.gauge(
        target,
        'jvm_threads_live_threads',
        {},
        (step) => 40 + Math.round(inFlight(step)),
      );
      samples.gauge(target, 'process_cpu_usage', {}, (step) =>
        Math.min(1, cpu(step) / component.cpuLimit),
      );
      samples.gauge(target, 'tomcat_threads_busy_threads', { name: 'http-nio-8080' }, (step) =>
        Math.min(200, Math.round(inFlight(step))),
      );
      break;
    case 'node':
      samples.gauge(
        target,
        'nodejs_eventloop_lag_seconds',
        {},
        (step) => 0.003 + 0.2 * Math.max(0, cpu(step) - 0.8) + 0.4 * life.throttled[step]!,
      );
      samples.gauge(target, 'nodejs_heap_size_used_bytes', {}, (step) => memory(step) * 0.6);
      samples.gauge(
        target,
        'nodejs_active_handles_total',
        {},
        (step) => 12 + Math.round(inFlight(step)),
      );
      break;
    case 'python':
      samples.counter(
        target,
        'python_gc_collections_total',
        { generation: '0' },
        (step) => 0.2 + life.rate[step]! * share * 0.05,
      );
      break;
  }
}

function exposePool(
  samples: Samples,
  { world, lives }: Scene,
  component: Component,
  target: Target,
): void {
  const isUsing = world.calls.some(
    ({ from, to }) =>
      from === component.id && ['postgres', 'mysql'].includes(world.components[to]!.engine ?? ''),
  );
  if (!isUsing) {
    return;
  }
  const life = lives.components[component.id]!;
  const used: Curve = (step) => Math.round(life.poolUsed[step]!);
  switch (component.language) {
    case 'java':
      samples.gauge(target, 'hikaricp_connections_active', { pool: 'HikariPool-1' }, used);
      samples.gauge(target, 'hikaricp_connections_pending', { pool: 'HikariPool-1' }, (step) =>
        Math.round(life.poolWaiting[step]!),
      );
      samples.gauge(
        target,
        'hikaricp_connections_max',
        { pool: 'HikariPool-1' },
        () => component.poolMax,
      );
      break;
    case 'go':
      samples.gauge(target, 'go_sql_in_use_connections', { db_name: 'main' }, used);
      samples.gauge(
        target,
        'go_sql_max_open_connections',
        { db_name: 'main' },
        () => component.poolMax,
      );
      samples.counter(
        target,
        'go_sql_wait_count_total',
        { db_name: 'main' },
        (step) => life.poolWaiting[step]! / 5,
      );
      break;
    default:
      samples.gauge(
        target,
        'db_client_connections_usage',
        { pool_name: 'main', state: 'used' },
        used,
      );
      samples.gauge(
        target,
        'db_client_connections_max',
        { pool_name: 'main' },
        () => component.poolMax,
      );
      samples.gauge(
        target,
        'db_client_connections_pending_requests',
        { pool_name: 'main' },
        (step) => Math.round(life.poolWaiting[step]!),
      );
      break;
  }
}
