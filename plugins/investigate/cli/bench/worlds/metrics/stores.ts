import { addressOf, type Scene } from '../world/scene.ts';
import type { Component, Engine } from '../world/world.ts';
import type { Curve, Samples, Target } from './samples.ts';

const exporters: Readonly<Record<Engine, readonly [job: string, port: number]>> = {
  postgres: ['postgres-exporter', 9_187],
  mysql: ['mysqld-exporter', 9_104],
  redis: ['redis-exporter', 9_121],
  rabbitmq: ['rabbitmq', 15_692],
  kafka: ['kafka-exporter', 9_308],
  mongodb: ['mongodb-exporter', 9_216],
};

/** Exposes a store as the exporter beside it does, which answers when the store does not. */
export function exposeStore(samples: Samples, scene: Scene, component: Component): void {
  const { world, lives, random, course } = scene;
  const engine = component.engine!;
  const [job, port] = exporters[engine];
  const instance = component.instances[0]!;
  const { platform, serviceLabel, namespace } = world.vocabulary;
  const machine = world.machines[instance.host]!;
  const life = lives.components[component.id]!;
  const target: Target = {
    labels: {
      job: platform === 'kubernetes' || serviceLabel === undefined ? component.name : job,
      instance: platform === 'machines' ? `${machine.name}:${port}` : `${instance.ip}:${port}`,
      ...(platform === 'kubernetes' && { namespace, pod: instance.pod }),
      ...(serviceLabel && { [serviceLabel]: component.name }),
    },
    phaseMs: Math.floor(random() * course.stepMs),
    isUp: () => 1,
  };
  const up: Curve = (step) => life.up[step]!;
  samples.gauge(target, 'up', {}, () => 1);
  exposures[engine](samples, { ...target, isUp: up }, { scene, component, up, always: target });
}

interface Told {
  readonly scene: Scene;
  readonly component: Component;
  readonly up: Curve;
  readonly always: Target;
}

const exposures: Readonly<Record<Engine, (samples: Samples, target: Target, told: Told) => void>> =
  {
    postgres(samples, target, { scene, component, up, always }) {
      const life = scene.lives.components[component.id]!;
      const db = { datname: 'app' };
      const sessions: Curve = (step) =>
        Math.min(97, 4 + life.rate[step]! * life.mean[step]! + life.locks[step]!);
      samples.gauge(always, 'pg_up', {}, up);
      samples.gauge(target, 'pg_stat_activity_count', { ...db, state: 'active' }, (step) =>
        Math.round(sessions(step)),
      );
      samples.gauge(target, 'pg_stat_activity_count', { ...db, state: 'idle' }, () => 20);
      samples.gauge(
        target,
        'pg_stat_activity_max_tx_duration',
        { ...db, state: 'active' },
        (step) => (life.locks[step]! > 0 ? 20 + step : 0.4),
      );
      samples.gauge(target, 'pg_locks_count', { ...db, mode: 'exclusivelock' }, (step) =>
        Math.round(life.locks[step]!),
      );
      samples.gauge(target, 'pg_locks_count', { ...db, mode: 'rowexclusivelock' }, (step) =>
        Math.round(3 + life.locks[step]! * 2),
      );
      samples.gauge(target, 'pg_settings_max_connections', {}, () => 100);
      samples.counter(
        target,
        'pg_stat_database_xact_commit',
        db,
        (step) => life.rate[step]! * (1 - life.errors[step]!),
      );
      samples.counter(
        target,
        'pg_stat_database_xact_rollback',
        db,
        (step) => life.rate[step]! * life.errors[step]!,
      );
      samples.counter(target, 'pg_stat_database_deadlocks', db, (step) => life.locks[step]! / 300);
      samples.sum(
        target,
        'pg_stat_database_blk_write_time',
        db,
        (step) => life.rate[step]! * life.mean[step]! * 200,
      );
    },
    mysql(samples, target, { scene, component, up, always }) {
      const life = scene.lives.components[component.id]!;
      samples.gauge(always, 'mysql_up', {}, up);
      samples.gauge(target, 'mysql_global_status_threads_running', {}, (step) =>
        Math.round(2 + life.rate[step]! * life.mean[step]! + life.locks[step]!),
      );
      samples.gauge(target, 'mysql_global_status_threads_connected', {}, (step) =>
        Math.round(25 + life.rate[step]! * life.mean[step]! + life.locks[step]!),
      );
      samples.gauge(target, 'mysql_global_variables_max_connections', {}, () => 151);
      samples.counter(target, 'mysql_global_status_queries', {}, (step) => life.rate[step]!);
      samples.counter(
        target,
        'mysql_global_status_slow_queries',
        {},
        (step) => life.rate[step]! * Math.min(0.5, Math.max(0, life.mean[step]! - 0.1)),
      );
      samples.gauge(target, 'mysql_global_status_innodb_row_lock_current_waits', {}, (step) =>
        Math.round(life.locks[step]!),
      );
      samples.counter(
        target,
        'mysql_global_status_innodb_row_lock_waits',
        {},
        (step) => 0.05 + life.locks[step]! / 4,
      );
      samples.counter(
        target,
        'mysql_global_status_connection_errors_total',
        { error: 'internal' },
        (step) => life.rate[step]! * life.own[step]!,
      );
    },
    redis(samples, target, { scene, component, up, always }) {
      const life = scene.lives.components[component.id]!;
      const keys = 200_000;
      samples.gauge(always, 'redis_up', {}, up);
      samples.gauge(target, 'redis_connected_clients', {}, (step) =>
        Math.round(15 + life.rate[step]! * life.mean[step]!),
      );
      samples.counter(target, 'redis_commands_processed_total', {}, (step) => life.rate[step]!);
      samples.counter(
        target,
        'redis_keyspace_hits_total',
        {},
        (step) => life.rate[step]! * 0.92 * (1 - life.misses[step]!),
      );
      samples.counter(
        target,
        'redis_keyspace_misses_total',
        {},
        (step) => life.rate[step]! * (0.08 + 0.92 * life.misses[step]!),
      );
      samples.gauge(
        target,
        'redis_memory_used_bytes',
        {},
        (step) => life.memory[step]! * (1 - 0.8 * life.misses[step]!),
      );
      samples.gauge(target, 'redis_db_keys', { db: 'db0' }, (step) =>
        Math.round(keys * (1 - 0.9 * life.misses[step]!)),
      );
      samples.gauge(target, 'redis_uptime_in_seconds', {}, (step) =>
        life.restarts[step]! > 0
          ? (step * scene.course.stepMs) / 10_000
          : 400_000 + (step * scene.course.stepMs) / 1_000,
      );
      samples.sum(
        target,
        'redis_commands_duration_seconds_total',
        { cmd: 'get' },
        (step) => life.rate[step]! * life.self[step]!,
      );
    },
    rabbitmq(samples, target, { scene, component }) {
      const life = scene.lives.components[component.id]!;
      const queue = { queue: 'tasks', vhost: '/' };
      const taken = takenBy(scene, component);
      samples.gauge(target, 'rabbitmq_queue_messages_ready', queue, (step) =>
        Math.round(life.depth[step]!),
      );
      samples.gauge(target, 'rabbitmq_queue_messages_unacked', queue, (step) =>
        Math.round(4 + Math.min(200, life.depth[step]! / 50)),
      );
      samples.gauge(target, 'rabbitmq_queue_consumers', queue, () => 4);
      samples.counter(
        target,
        'rabbitmq_queue_messages_published_total',
        queue,
        (step) => life.rate[step]!,
      );
      samples.counter(target, 'rabbitmq_channel_messages_acked_total', queue, taken);
    },
    kafka(samples, target, { scene, component }) {
      const life = scene.lives.components[component.id]!;
      const consumer = consumerOf(scene, component)?.name ?? 'workers';
      samples.gauge(
        target,
        'kafka_consumergroup_lag',
        { consumergroup: consumer, topic: 'events', partition: '0' },
        (step) => Math.round(life.depth[step]!),
      );
      samples.counter(
        target,
        'kafka_topic_partition_current_offset',
        { topic: 'events', partition: '0' },
        (step) => life.rate[step]!,
      );
      samples.counter(
        target,
        'kafka_consumergroup_current_offset',
        { consumergroup: consumer, topic: 'events', partition: '0' },
        takenBy(scene, component),
      );
      samples.gauge(target, 'kafka_brokers', {}, () => 3);
    },
    mongodb(samples, target, { scene, component, up, always }) {
      const life = scene.lives.components[component.id]!;
      samples.gauge(always, 'mongodb_up', {}, up);
      samples.gauge(target, 'mongodb_ss_connections', { conn_type: 'current' }, (step) =>
        Math.round(20 + life.rate[step]! * life.mean[step]!),
      );
      samples.counter(
        target,
        'mongodb_ss_opcounters',
        { legacy_op_type: 'query' },
        (step) => life.rate[step]!,
      );
      samples.sum(
        target,
        'mongodb_ss_opLatencies_latency',
        { op_type: 'reads' },
        (step) => life.rate[step]! * life.mean[step]! * 1e6,
      );
      samples.counter(
        target,
        'mongodb_ss_opLatencies_ops',
        { op_type: 'reads' },
        (step) => life.rate[step]!,
      );
    },
  };

/** The second that is drawn at a queue takes its messages. */
export const consumerOf = ({ world }: Scene, queue: Component): Component | undefined => {
  const [, consumer] = world.calls.filter(({ to, isAsync }) => isAsync && to === queue.id);
  return consumer && world.components[consumer.from];
};

const takenBy = ({ lives, course }: Scene, { id }: Component): Curve => {
  const { rate, depth } = lives.components[id]!;
  return (step) =>
    Math.max(
      0,
      rate[step]! - (step === 0 ? 0 : ((depth[step]! - depth[step - 1]!) * 1_000) / course.stepMs),
    );
};

/** A component's address as others dial it. */
export const peerOf = (component: Component): string => addressOf(component.instances[0]!);
