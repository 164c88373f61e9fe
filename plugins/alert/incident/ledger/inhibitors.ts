import type { Severity } from 'svc/contracts/notify';

import { deviceOfflineRule } from '../../rule/rule.ts';
import type { FamilyOf } from './families.ts';
import { type Incident, isActive } from './incident.ts';

const rising: readonly Severity[] = ['info', 'warning', 'critical'];
const rankOf = ({ severity }: Pick<Incident, 'severity'>): number => rising.indexOf(severity);

export const isOffline = ({ rule_key: key }: Pick<Incident, 'rule_key'>): boolean =>
  key === deviceOfflineRule;

/** Active incidents by what they can inhibit, so that a storm is not compared with itself. */
export class Inhibitors {
  readonly #familyOf: FamilyOf;
  readonly #tiers = new Map<string, Set<string>>();
  /** Tiers by key, unaffected by later edits of the rule. */
  readonly #tiersOfKey = new Map<string, readonly string[]>();

  constructor(familyOf: FamilyOf) {
    this.#familyOf = familyOf;
  }

  add(incident: Incident): void {
    const { dedupe_key: key } = incident;
    this.remove(incident);
    const tiers = this.#tiersOf(incident);
    this.#tiersOfKey.set(key, tiers);
    for (const tier of tiers) {
      const keys = this.#tiers.get(tier);
      if (keys === undefined) {
        this.#tiers.set(tier, new Set([key]));
      } else {
        keys.add(key);
      }
    }
  }

  remove({ dedupe_key: key }: Incident): void {
    for (const tier of this.#tiersOfKey.get(key) ?? []) {
      const keys = this.#tiers.get(tier);
      keys?.delete(key);
      if (keys?.size === 0) {
        this.#tiers.delete(tier);
      }
    }
    this.#tiersOfKey.delete(key);
  }

  in(tier: string): Iterable<string> {
    return this.#tiers.get(tier) ?? [];
  }

  /** Returns where to look for inhibitors of the target, strongest first. */
  tiersAbove(target: Incident): readonly string[] {
    const family = this.#familyOf(target);
    return [
      ...(target.device_id === null ? [] : [offlineTier(target.device_id)]),
      ...(family === ''
        ? []
        : rising
            .slice(rankOf(target) + 1)
            .toReversed()
            .map((severity) => familyTier(target, severity, family))),
    ];
  }

  /**
   * Returns whether `source` makes a notice of `target` needless: its device is gone, or the same
   * thing is worse than the target says.
   */
  inhibits(source: Incident, target: Incident): boolean {
    if (source.dedupe_key === target.dedupe_key || !isActive(source)) {
      return false;
    }
    const goneDevice =
      isOffline(source) &&
      !isOffline(target) &&
      source.device_id !== null &&
      source.device_id === target.device_id;
    return goneDevice || (rankOf(source) > rankOf(target) && this.#areOfOneThing(source, target));
  }

  #areOfOneThing(source: Incident, target: Incident): boolean {
    const sameScope =
      source.scope_type === target.scope_type && source.scope_id === target.scope_id;
    const family = sameScope ? this.#familyOf(source) : '';
    return family !== '' && family === this.#familyOf(target);
  }

  #tiersOf(incident: Incident): readonly string[] {
    const family = this.#familyOf(incident);
    return [
      ...(family === '' ? [] : [familyTier(incident, incident.severity, family)]),
      ...(isOffline(incident) && incident.device_id !== null
        ? [offlineTier(incident.device_id)]
        : []),
    ];
  }
}

/** Labels that tell rules apart, not things. */
const ofTheRule = new Set(['severity', 'alertname']);

/** A label that both carry with different values makes them two things, such as two disks of one host. */
export const areToldApart = (source: Incident['labels'], target: Incident['labels']): boolean =>
  Object.entries(source).some(
    ([name, value]) =>
      !ofTheRule.has(name) && Object.hasOwn(target, name) && target[name] !== value,
  );

const familyTier = (
  { scope_type: type, scope_id: id }: Incident,
  severity: Severity,
  family: string,
): string => `${severity} ${type} ${id} ${family}`;
const offlineTier = (device: string): string => `offline ${device}`;
