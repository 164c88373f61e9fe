import { seeded } from 'svc/seeded';

import { dnsNameOf, type Scene, scrapedAddressOf } from '../world/scene.ts';
import type { Component, Instance, World } from '../world/world.ts';
import { exposeContainers } from './containers.ts';
import { exposeHosts } from './hosts.ts';
import { exposeCalls, exposeRequests, styleOf } from './requests.ts';
import { exposeRuntime } from './runtimes.ts';
import { Samples, type Target } from './samples.ts';
import { exposeSpanMetrics } from './span-metrics.ts';
import { exposeStore } from './stores.ts';

/** Everything that a world's exporters say, under the names of its vocabulary. */
export function exposed(scene: Scene, sendsServices: boolean): Samples {
  const { world, course, lives } = scene;
  const { vocabulary } = world;
  const samples = new Samples({ ...course, random: scene.random });
  for (const component of world.components) {
    if (component.role === 'service' && sendsServices) {
      exposeService(samples, scene, component);
    }
    if (component.role === 'store' && vocabulary.storeMetrics) {
      exposeStore(samples, scene, component);
    }
    if (component.role !== 'external' && vocabulary.containerMetrics) {
      exposeContainers(samples, scene, component);
    }
    if (component.role === 'resolver' && vocabulary.hostMetrics) {
      const life = lives.components[component.id]!;
      const target = targetOf(world, component, component.instances[0]!, scene);
      const asked = world.calls.length * 3;
      samples.counter(
        target,
        'coredns_dns_responses_total',
        { rcode: 'NOERROR', zone: '.' },
        (step) => asked * (1 - life.own[step]!),
      );
      samples.counter(
        target,
        'coredns_dns_responses_total',
        { rcode: 'SERVFAIL', zone: '.' },
        (step) => 0.01 + asked * life.own[step]!,
      );
    }
  }
  if (vocabulary.hostMetrics) {
    exposeHosts(samples, scene);
  }
  if (vocabulary.blackbox) {
    exposeProbes(samples, scene);
  }
  exposeSpanMetrics(samples, scene);
  return samples;
}

function exposeService(samples: Samples, scene: Scene, component: Component): void {
  const life = scene.lives.components[component.id]!;
  component.instances.forEach((instance) => {
    const target = targetOf(scene.world, component, instance, scene);
    const isMesh = styleOf(scene.world.vocabulary, component).name === 'Istio';
    samples.gauge({ ...target, isUp: () => 1 }, 'up', {}, (step) => life.up[step]!);
    exposeRequests(
      samples,
      scene,
      component,
      isMesh ? { ...target, labels: { ...target.labels, job: 'istio-proxy' } } : target,
    );
    exposeCalls(samples, scene, component, target);
    if (scene.world.vocabulary.runtimeMetrics) {
      exposeRuntime(samples, scene, component, target);
    }
  });
}

/** Returns the labels that a scraper of this world gives an instance of a service. */
function targetOf(
  world: World,
  component: Component,
  instance: Instance,
  { lives, course }: Scene,
): Target {
  const { platform, namespace, serviceLabel, jobNames } = world.vocabulary;
  const life = lives.components[component.id]!;
  const address = scrapedAddressOf(world, component, instance);
  // Without any other name the job is all that tells services apart.
  const job =
    jobNames || (serviceLabel === undefined && platform === 'machines')
      ? component.name
      : platform === 'kubernetes'
        ? 'kubernetes-pods'
        : 'services';
  return {
    labels: {
      job,
      instance: address,
      ...(platform === 'kubernetes' && { namespace, pod: instance.pod, container: component.name }),
      ...(serviceLabel && { [serviceLabel]: component.name }),
    },
    phaseMs: Math.floor(seeded('phase', address, job)() * course.stepMs),
    isUp: (step) => life.up[step]!,
    starts: (step) => life.restarts[step]!,
  };
}

/** Probes of what is reached by a name, with the end of its certificate. */
function exposeProbes(samples: Samples, scene: Scene): void {
  const { world, lives, course, end } = scene;
  const expired = course.faults.find(({ fault }) => fault.certificate !== undefined);
  const asked = new Set([
    ...world.entries,
    ...world.components
      .filter(
        ({ role, id }) => role === 'service' && (id % 2 === 0 || id === expired?.fault.certificate),
      )
      .map(({ id }) => id),
  ]);
  for (const id of asked) {
    const component = world.components[id]!;
    const life = lives.components[id]!;
    const target = {
      labels: { job: 'blackbox', instance: `https://${dnsNameOf(world, component)}/healthz` },
      phaseMs: 2_000,
      isUp: () => 1,
    };
    const isExpired = expired?.fault.certificate === id;
    const fails = (step: number): boolean =>
      life.up[step]! === 0 || (isExpired && step >= expired.onset) || life.errors[step]! > 0.6;
    const expires = isExpired
      ? end / 1_000 - ((course.steps - 1 - expired.onset) * course.stepMs) / 1_000
      : end / 1_000 + 40 * 86_400 + id * 10_000;
    samples.gauge(target, 'probe_success', {}, (step) => (fails(step) ? 0 : 1));
    samples.gauge(target, 'probe_duration_seconds', {}, (step) =>
      fails(step) ? 0.02 : 0.03 + life.mean[step]!,
    );
    samples.gauge(target, 'probe_ssl_earliest_cert_expiry', {}, () => Math.floor(expires));
  }
}
