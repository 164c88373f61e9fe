import semver from 'semver';

import type { Snapshot } from '../registry/index.ts';
import { PackLoader, type PluginManifest, type ServiceNeed } from '../sdk/index.ts';
import type { PluginRecord } from './record.ts';

const verdicts = new Map<string, boolean>();

/** Remembered: a process sees few versions and ranges, and asks about each at every look at a plugin. */
function fits(version: string, range: string): boolean {
  const key = `${version} ${range}`;
  const verdict = verdicts.get(key) ?? semver.satisfies(version, range);
  verdicts.set(key, verdict);
  return verdict;
}

export const packLoader = ({ services }: Snapshot): PackLoader | undefined =>
  services.get(PackLoader.id)?.value.instance as PackLoader | undefined;

/** Returns why a pack from the data folder has to wait although its requirements are met. */
export const barredCause = (
  manifest: PluginManifest | undefined,
  { folder }: PluginRecord,
  snapshot: Snapshot,
): string | undefined =>
  folder.origin === 'data' && manifest?.kind === 'pack' && manifest.requires.length > 0
    ? packLoader(snapshot)?.barred(manifest)
    : undefined;

/** The generation that loads packs with code. */
export function packLoaderIn(snapshot: Snapshot): string | undefined {
  const owner = snapshot.services.get(PackLoader.id)?.owner;
  return owner && `${owner.pluginId}#${owner.number}`;
}

/** The needs of a manifest that the snapshot does not meet at this moment. */
export function unmetNeeds(manifest: PluginManifest, snapshot: Snapshot): readonly ServiceNeed[] {
  return manifest.requires.filter((need) => {
    const provider = snapshot.services.get(need.service);
    return !provider || !fits(provider.value.version, need.range);
  });
}

/** Plugins that serve now but whose needs nobody meets any more, and those that fall with them. */
export function strandedBy(leaving: ReadonlySet<string>, snapshot: Snapshot): readonly string[] {
  const gone = new Set(leaving);
  for (let grew = true; grew;) {
    grew = false;
    for (const [id, generation] of snapshot.generations) {
      if (
        !gone.has(id) &&
        generation.manifest.requires.some((need) => isGone(need, gone, snapshot))
      ) {
        gone.add(id);
        grew = true;
      }
    }
  }
  return [...gone].filter((id) => !leaving.has(id));
}

function isGone(need: ServiceNeed, gone: ReadonlySet<string>, snapshot: Snapshot): boolean {
  const provider = snapshot.services.get(need.service);
  return (
    !provider || gone.has(provider.owner.pluginId) || !fits(provider.value.version, need.range)
  );
}

/**
 * Returns ids such that each user of a service precedes its provider: the order of stopping
 * plugins.
 */
export function usersFirst(ids: readonly string[], snapshot: Snapshot): readonly string[] {
  const wanted = new Set(ids);
  const order: string[] = [];
  const visit = (id: string): void => {
    if (!wanted.delete(id)) {
      return;
    }
    for (const [other, generation] of snapshot.generations) {
      if (
        generation.manifest.requires.some(
          (need) => snapshot.services.get(need.service)?.owner.pluginId === id,
        )
      ) {
        visit(other);
      }
    }
    order.push(id);
  };
  ids.forEach(visit);
  return order;
}

/** Why a plugin waits: the sentence names the service, and who would offer it. */
export function blockedCause(
  record: PluginRecord,
  records: ReadonlyMap<string, PluginRecord>,
  snapshot: Snapshot,
): string {
  const manifest = record.manifest;
  const cycle = manifest && findCycle(record.id, records);
  if (cycle) {
    return `requirement cycle: ${cycle.join(' → ')}; make one of them optional`;
  }
  return unmetNeeds(manifest!, snapshot)
    .map(
      (need) => `needs service ${need.service} ${need.range}, ${offerOf(need, records, snapshot)}`,
    )
    .join('; ');
}

function offerOf(
  need: ServiceNeed,
  records: ReadonlyMap<string, PluginRecord>,
  snapshot: Snapshot,
): string {
  const serving = snapshot.services.get(need.service);
  if (serving) {
    return `provided in ${serving.value.version} by ${serving.owner.pluginId}`;
  }
  const offers = [...records.values()].flatMap((other) =>
    (other.manifest?.provides ?? [])
      .filter((offer) => offer.service === need.service)
      .map((offer) => ({ other, offer })),
  );
  const fitting = offers.find(({ offer }) => fits(offer.version, need.range)) ?? offers[0];
  if (!fitting) {
    return 'which no installed plugin provides';
  }
  const { other, offer } = fitting;
  return fits(offer.version, need.range)
    ? `whose provider "${other.id}" is ${other.state}`
    : `provided in ${offer.version} by ${other.id}, which is ${other.state}`;
}

/** The path of a cycle of required services through `start`, or undefined. */
function findCycle(
  start: string,
  records: ReadonlyMap<string, PluginRecord>,
): readonly string[] | undefined {
  const providers = new Map<string, string>();
  for (const record of records.values()) {
    for (const offer of record.manifest?.provides ?? []) {
      providers.set(offer.service, record.id);
    }
  }
  const seen = new Set<string>();
  const walk = (id: string, path: readonly string[]): readonly string[] | undefined => {
    for (const need of records.get(id)?.manifest?.requires ?? []) {
      const next = providers.get(need.service);
      if (next === start) {
        return [...path, start];
      }
      if (next !== undefined && !seen.has(next)) {
        seen.add(next);
        const found = walk(next, [...path, next]);
        if (found) {
          return found;
        }
      }
    }
    return undefined;
  };
  return walk(start, [start]);
}
