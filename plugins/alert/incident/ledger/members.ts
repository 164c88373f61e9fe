import { type Instance, isBurning, isWorse, worseOf } from '../../instance/instance.ts';
import type { Incident } from './incident.ts';

/**
 * Returns the instance that represents its incident: the worst firing one, preferably not muted.
 */
export function leadOf(
  members: Iterable<Instance>,
  isMuted: (instance: Instance) => boolean,
  threshold: number | undefined,
): Instance | undefined {
  let lead: Instance | undefined;
  let rank = 0;
  for (const member of members) {
    if (member.phase !== 'firing') {
      continue;
    }
    const own = 1 + (isBurning(member) ? 1 : 0) + (isMuted(member) ? 0 : 2);
    if (lead === undefined || own > rank || (own === rank && isBeyond(member, lead, threshold))) {
      lead = member;
      rank = own;
    }
  }
  return lead;
}

function isBeyond(
  { reading: { value } }: Instance,
  { reading: { value: than } }: Instance,
  threshold: number | undefined,
): boolean {
  return value !== null && (than === null || isWorse(value, than, threshold));
}

export const countFiring = (members: Iterable<Instance>): number => {
  let count = 0;
  for (const { phase } of members) {
    count += phase === 'firing' ? 1 : 0;
  }
  return count;
};

/** An incident with the value that was measured last, how many of its instances fire, and the worst that was measured of any. */
export function measured(
  incident: Incident,
  members: ReadonlyMap<string, Instance>,
  threshold = incident.threshold ?? undefined,
): Measured {
  const lead = members.get(incident.lead);
  let worst: number | null = null;
  for (const { reading } of members.values()) {
    worst = worseOf(worst, reading.worst, threshold);
  }
  return {
    ...incident,
    value: lead === undefined ? incident.value : lead.reading.value,
    firing_instances: countFiring(members.values()),
    worst_value: worst,
  };
}

export interface Measured extends Incident {
  readonly firing_instances: number;
  readonly worst_value: number | null;
}
