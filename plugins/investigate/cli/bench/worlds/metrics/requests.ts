import type { Life } from '../world/life.ts';
import { dnsNameOf, type Scene } from '../world/scene.ts';
import { type RequestStyle, styles, type Vocabulary } from '../world/vocabulary.ts';
import type { Component } from '../world/world.ts';
import type { Curve, Labels, Samples, Target } from './samples.ts';

export const styleOf = (
  { http, byLanguage, ingress }: Vocabulary,
  { language, id }: Pick<Component, 'language' | 'id'>,
): RequestStyle => styles[ingress && id === 0 ? 'nginx' : (http ?? byLanguage[language])]!;

/** Exposes the requests of a service as its own library, its mesh or the ingress before it does. */
export function exposeRequests(
  samples: Samples,
  scene: Scene,
  component: Component,
  target: Target,
): void {
  const { world, lives } = scene;
  const style = styleOf(world.vocabulary, component);
  const life = lives.components[component.id]!;
  const share = 1 / component.instances.length;
  for (const [labels, part] of routesOf(style, component, world.vocabulary)) {
    requests(samples, target, style, labels, life, share * part);
  }
}

/** Labels of the routes of a component, with their share of the traffic. */
export function routesOf(
  { name, route, method, extra = {} }: RequestStyle,
  component: Component,
  { namespace }: Vocabulary,
): readonly (readonly [Labels, number])[] {
  const common = { ...extra, ...(method && { [method.name]: method.value }) };
  if (name === 'Istio') {
    return [
      [
        {
          ...common,
          reporter: 'destination',
          destination_workload: component.name,
          destination_service_name: component.name,
          destination_workload_namespace: namespace,
          request_protocol: 'http',
        },
        1,
      ],
    ];
  }
  if (name === 'ingress-nginx') {
    return [
      [
        {
          ...common,
          ingress: `${component.name}-ingress`,
          exported_namespace: namespace,
          exported_service: component.name,
          host: 'www.example.com',
          path: '/',
        },
        1,
      ],
    ];
  }
  const first = component.id % (route?.values.length ?? 1);
  return route === undefined
    ? [[common, 1]]
    : [
        [{ ...common, [route.name]: route.values[first]! }, 0.7],
        [{ ...common, [route.name]: route.values[(first + 1) % route.values.length]! }, 0.3],
      ];
}

function requests(
  samples: Samples,
  target: Target,
  { counter, duration }: RequestStyle,
  labels: Labels,
  life: Life,
  share: number,
): void {
  const ok: Curve = (step) => life.rate[step]! * share * (1 - life.errors[step]!);
  const bad: Curve = (step) => life.rate[step]! * share * life.errors[step]!;
  if (counter !== undefined) {
    samples.counter(target, counter.name, { ...labels, [counter.status]: counter.ok }, ok);
    samples.counter(target, counter.name, { ...labels, [counter.status]: counter.bad }, bad);
  }
  if (duration === undefined) {
    return;
  }
  const mean: Curve = (step) => life.mean[step]!;
  const unit = duration.unit === 'ms' ? 1_000 : 1;
  const { status } = duration;
  const parts: readonly (readonly [Labels, Curve])[] =
    status === undefined
      ? [[labels, (step) => life.rate[step]! * share]]
      : [
          [{ ...labels, [status.name]: status.ok }, ok],
          [{ ...labels, [status.name]: status.bad }, bad],
        ];
  for (const [more, perSecond] of parts) {
    switch (duration.type) {
      case 'histogram':
        samples.histogram(target, duration.name, more, { perSecond, mean, unit });
        break;
      case 'summary':
        [0.5, 0.9, 0.99].forEach((quantile, at) =>
          samples.gauge(
            target,
            duration.name,
            { ...more, quantile: String(quantile) },
            (step) => mean(step) * unit * [0.83, 1.8, 3.3][at]!,
          ),
        );
        samples.counter(target, `${duration.name}_count`, more, perSecond);
        samples.sum(
          target,
          `${duration.name}_sum`,
          more,
          (step) => perSecond(step) * mean(step) * unit,
        );
        break;
      case 'sum':
        samples.counter(target, `${duration.name}_count`, more, perSecond);
        samples.sum(
          target,
          `${duration.name}_sum`,
          more,
          (step) => perSecond(step) * mean(step) * unit,
        );
        samples.gauge(target, `${duration.name}_max`, more, (step) => mean(step) * unit * 3.1);
        break;
    }
  }
}

/** Exposes the calls that a service makes, where its library has a name for them. */
export function exposeCalls(
  samples: Samples,
  scene: Scene,
  component: Component,
  target: Target,
): void {
  const { world, lives } = scene;
  const style = styleOf(world.vocabulary, component);
  const share = 1 / component.instances.length;
  world.calls.forEach((call, at) => {
    const other = world.components[call.to]!;
    if (
      call.from !== component.id ||
      call.isAsync ||
      (other.role === 'store' && style.name !== 'Istio')
    ) {
      return;
    }
    const life = lives.calls[at]!;
    const ok: Curve = (step) => life.rate[step]! * share * (1 - life.errors[step]!);
    const bad: Curve = (step) => life.rate[step]! * share * life.errors[step]!;
    const mean: Curve = (step) => life.mean[step]!;
    if (style.name === 'Istio') {
      const labels = {
        reporter: 'source',
        source_workload: component.name,
        destination_workload: other.name,
        destination_service_name: other.name,
        request_protocol: 'http',
      };
      samples.counter(
        target,
        'istio_requests_total',
        { ...labels, response_code: '200', response_flags: '-' },
        ok,
      );
      samples.counter(
        target,
        'istio_requests_total',
        { ...labels, response_code: '503', response_flags: 'UF' },
        bad,
      );
      samples.histogram(target, 'istio_request_duration_milliseconds', labels, {
        perSecond: (step) => life.rate[step]! * share,
        mean,
        unit: 1_000,
      });
    } else if (world.vocabulary.clientMetrics && style.client !== undefined) {
      const { name, unit, peer, status } = style.client;
      for (const [value, perSecond] of [
        [status.ok, ok],
        [status.bad, bad],
      ] as const) {
        const labels = { [peer]: dnsNameOf(world, other), [status.name]: value };
        samples.counter(target, `${name}_count`, labels, perSecond);
        samples.sum(
          target,
          `${name}_sum`,
          labels,
          (step) => perSecond(step) * mean(step) * (unit === 'ms' ? 1_000 : 1),
        );
      }
    } else if (world.vocabulary.clientMetrics && style.name === 'go-grpc-prometheus') {
      samples.counter(
        target,
        'grpc_client_handled_total',
        { grpc_service: `${other.name}.v1`, grpc_code: 'OK' },
        ok,
      );
      samples.counter(
        target,
        'grpc_client_handled_total',
        { grpc_service: `${other.name}.v1`, grpc_code: 'Unavailable' },
        bad,
      );
    }
  });
}
