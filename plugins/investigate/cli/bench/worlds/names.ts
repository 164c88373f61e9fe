import type { Stream } from './log-lines.ts';
import { hostInstanceOf } from './metrics/hosts.ts';
import type { Samples } from './metrics/samples.ts';
import type { Fault } from './world/fault.ts';
import { addressOf, type Scene, scrapedAddressOf } from './world/scene.ts';
import type { Component, World } from './world/world.ts';

/** Returns every name that data have for a machine. */
export const hostNames = ({ machines, vocabulary }: World, host: number): readonly string[] => {
  const machine = machines[host]!;
  return [machine.name, machine.ip, hostInstanceOf(vocabulary, machine)];
};

/** Every name that data have for a component: its own, those of its instances, and the addresses of its exporters. */
export const componentNames = (world: World, component: Component): readonly string[] => [
  component.name,
  `${component.name}.${world.vocabulary.namespace}.svc.cluster.local`,
  ...component.instances.flatMap((instance) => [
    instance.pod,
    instance.ip,
    addressOf(instance),
    scrapedAddressOf(world, component, instance),
    ...(world.vocabulary.platform === 'docker'
      ? [scrapedAddressOf(world, component, instance).split(':')[0]!]
      : []),
  ]),
];

/** Right answers: those of the fault and, where nothing that is sent has a name for them, those that show it first. */
export function namesOf(
  { world }: Scene,
  { components, hosts }: Fault,
  told: Told,
): readonly string[] {
  const own = [
    ...components.flatMap((id) => componentNames(world, world.components[id]!)),
    ...hosts.flatMap((host) => hostNames(world, host)),
  ];
  if (own.some((name) => told.names(name))) {
    return [...new Set(own)];
  }
  const near = new Set([
    ...world.calls.filter(({ to }) => components.includes(to)).map(({ from }) => from),
    ...world.components
      .filter(({ instances }) => instances.some(({ host }) => hosts.includes(host)))
      .map(({ id }) => id),
  ]);
  return [
    ...new Set([
      ...own,
      ...[...near].flatMap((id) => componentNames(world, world.components[id]!)),
    ]),
  ];
}

/** All names in what a world sends. */
export class Told {
  readonly #values = new Set<string>();
  readonly #text: string;

  constructor(
    samples: Samples,
    logs: readonly Stream[],
    spans: readonly object[],
    topology: { readonly nodes: readonly { readonly name: string }[] },
  ) {
    samples.series.forEach(({ labels }) =>
      Object.values(labels).forEach((value) => this.#values.add(value)),
    );
    logs.forEach(({ stream }) => Object.values(stream).forEach((value) => this.#values.add(value)));
    topology.nodes.forEach(({ name }) => this.#values.add(name));
    this.#text = JSON.stringify([
      logs.map(({ values }) => values.slice(-200).map(([, line]) => line)),
      spans.slice(-1),
    ]);
  }

  names(name: string): boolean {
    return this.#values.has(name) || this.#text.includes(name);
  }
}
