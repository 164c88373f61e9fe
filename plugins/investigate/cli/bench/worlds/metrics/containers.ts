import { type Scene, versionAt } from '../world/scene.ts';
import type { Component } from '../world/world.ts';
import type { Samples } from './samples.ts';

/** Exposes the containers of a component as cAdvisor and kube-state-metrics do. */
export function exposeContainers(samples: Samples, scene: Scene, component: Component): void {
  const { world, lives, random, course } = scene;
  const { platform, namespace } = world.vocabulary;
  const life = lives.components[component.id]!;
  const share = 1 / component.instances.length;
  component.instances.forEach(({ host, pod }) => {
    const machine = world.machines[host]!;
    const target = {
      labels:
        platform === 'kubernetes'
          ? {
              job: 'kubelet',
              instance: `${machine.ip}:10250`,
              node: machine.name,
              namespace,
              pod,
              container: component.name,
            }
          : {
              job: 'cadvisor',
              instance: `${machine.ip}:8080`,
              name: pod,
              image: `registry.example/${component.name}:${component.version}`,
            },
      phaseMs: Math.floor(random() * course.stepMs),
      isUp: (step: number) => life.up[step]!,
      starts: (step: number) => life.restarts[step]!,
    };
    samples.sum(
      target,
      'container_cpu_usage_seconds_total',
      {},
      (step) => life.cpu[step]! * share * (1 - 0.5 * life.throttled[step]!),
    );
    samples.gauge(target, 'container_memory_working_set_bytes', {}, (step) => life.memory[step]!);
    samples.gauge(target, 'container_spec_memory_limit_bytes', {}, () => component.memoryLimit);
    samples.counter(target, 'container_cpu_cfs_periods_total', {}, () => 10);
    samples.counter(
      target,
      'container_cpu_cfs_throttled_periods_total',
      {},
      (step) => 10 * life.throttled[step]!,
    );
    samples.counter(
      target,
      'container_network_transmit_bytes_total',
      {},
      (step) => life.rate[step]! * share * 2_500,
    );
    if (platform === 'kubernetes') {
      exposeState(samples, scene, component, pod, machine.name);
    }
  });
  if (platform === 'kubernetes' && component.role === 'service') {
    const labels = {
      job: 'kube-state-metrics',
      instance: '10.244.0.9:8080',
      namespace,
      deployment: component.name,
    };
    const target = { labels, phaseMs: 0, isUp: () => 1 };
    samples.gauge(target, 'kube_deployment_spec_replicas', {}, () => component.instances.length);
    samples.gauge(
      target,
      'kube_deployment_status_replicas_available',
      {},
      (step) => component.instances.length * life.up[step]!,
    );
    const version = versionAt(scene, component);
    samples.gauge(target, 'kube_deployment_status_observed_generation', {}, (step) =>
      version(step) === component.version ? 12 : 13,
    );
  }
}

function exposeState(
  samples: Samples,
  { world, lives }: Scene,
  component: Component,
  pod: string,
  node: string,
): void {
  const life = lives.components[component.id]!;
  const target = {
    labels: {
      job: 'kube-state-metrics',
      instance: '10.244.0.9:8080',
      namespace: world.vocabulary.namespace,
      pod,
    },
    phaseMs: 0,
    isUp: () => 1,
  };
  samples.gauge(
    target,
    'kube_pod_info',
    {
      node,
      host_ip: world.machines.find(({ name }) => name === node)!.ip,
      created_by_name: pod.split('-').slice(0, -1).join('-'),
    },
    () => 1,
  );
  samples.gauge(
    target,
    'kube_pod_container_status_restarts_total',
    { container: component.name },
    (step) => life.restarts[step]!,
  );
  samples.gauge(
    target,
    'kube_pod_container_status_ready',
    { container: component.name },
    (step) => life.up[step]!,
  );
  samples.gauge(
    target,
    'kube_pod_container_status_last_terminated_reason',
    { container: component.name, reason: 'OOMKilled' },
    (step) => (life.restarts[step]! > 0 && component.engine === undefined ? 1 : Number.NaN),
  );
}
