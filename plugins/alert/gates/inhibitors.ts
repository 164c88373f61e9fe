import type { Severity } from '../../notify/contract.ts';
import { type Incident, isActive } from '../incident/incident.ts';
import { deviceOfflineRule } from '../rule.ts';

const rising: readonly Severity[] = ['info', 'warning', 'critical'];
const rankOf = ({ severity }: Pick<Incident, 'severity'>): number => rising.indexOf(severity);

export const isOffline = ({ rule_key: key }: Pick<Incident, 'rule_key'>): boolean => key === deviceOfflineRule;

/** Whether what `source` says makes what `target` says needless. */
export function inhibits(source: Incident, target: Incident): boolean {
  if (source.dedupe_key === target.dedupe_key || !isActive(source)) {
    return false;
  }
  const sameScope = source.scope_type === target.scope_type && source.scope_id === target.scope_id;
  const goneDevice = isOffline(source) && !isOffline(target) && source.device_id !== null && source.device_id === target.device_id;
  return goneDevice || (sameScope && rankOf(source) > rankOf(target));
}

/** Active incidents by what they can inhibit, so that a storm is not compared with itself. */
export class Inhibitors {
  readonly #tiers = new Map<string, Set<string>>();

  add(incident: Incident): void {
    for (const tier of tiersOf(incident)) {
      const keys = this.#tiers.get(tier);
      if (keys === undefined) {
        this.#tiers.set(tier, new Set([incident.dedupe_key]));
      } else {
        keys.add(incident.dedupe_key);
      }
    }
  }

  remove(incident: Incident): void {
    for (const tier of tiersOf(incident)) {
      const keys = this.#tiers.get(tier);
      keys?.delete(incident.dedupe_key);
      if (keys?.size === 0) {
        this.#tiers.delete(tier);
      }
    }
  }

  in(tier: string): Iterable<string> {
    return this.#tiers.get(tier) ?? [];
  }
}

/** Where to look for what inhibits the target, strongest first. */
export const tiersAbove = (target: Incident): readonly string[] => [
  ...(target.device_id === null ? [] : [offlineTier(target.device_id)]),
  ...rising
    .slice(rankOf(target) + 1)
    .toReversed()
    .map((severity) => scopeTier(target, severity)),
];

const tiersOf = (incident: Incident): readonly string[] => [
  scopeTier(incident, incident.severity),
  ...(isOffline(incident) && incident.device_id !== null ? [offlineTier(incident.device_id)] : []),
];

const scopeTier = ({ scope_type: type, scope_id: id }: Incident, severity: Severity): string => `${severity} ${type} ${id}`;
const offlineTier = (device: string): string => `offline ${device}`;
