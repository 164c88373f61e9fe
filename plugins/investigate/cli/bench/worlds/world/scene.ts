import type { Random } from 'svc/seeded';

import type { Course, Lives } from './life.ts';
import type { Component, Instance, World } from './world.ts';

/** A world with all that happened in it, which is then told in its vocabulary. */
export interface Scene {
  readonly world: World;
  readonly lives: Lives;
  readonly course: Course;
  readonly random: Random;
  /** Time of the last step. */
  readonly end: number;
}

/** Address at which a scraper of this world reaches an instance. */
export function scrapedAddressOf(
  { vocabulary, machines }: World,
  component: Component,
  instance: Instance,
): string {
  const copies = component.instances;
  switch (vocabulary.platform) {
    case 'kubernetes':
      return addressOf(instance);
    case 'docker':
      return `${component.name}${copies.length > 1 ? `-${copies.indexOf(instance) + 1}` : ''}:${instance.port}`;
    case 'machines':
      return `${machines[instance.host]!.name}:${instance.port}`;
  }
}

export const addressOf = ({ ip, port }: Instance): string => `${ip}:${port}`;

/** Name by which others call a component. */
export const dnsNameOf = ({ vocabulary }: World, { name, role }: Component): string =>
  role === 'external' || vocabulary.platform !== 'kubernetes'
    ? name
    : `${name}.${vocabulary.namespace}.svc.cluster.local`;

/** Version of a component at a step: a deploy raises it. */
export function versionAt({ course }: Scene, { id, version }: Component): (step: number) => string {
  const deploy = course.faults.find(
    ({ fault }) => fault.change?.component === id && fault.change.kind === 'deploy',
  );
  return (step) => (deploy !== undefined && step >= deploy.onset ? `${version}-rc1` : version);
}
