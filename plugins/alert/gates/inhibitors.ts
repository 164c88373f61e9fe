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
  readonly #scopes = new Map<string, Set<string>>();
  readonly #offline = new Map<string, Set<string>>();

  add(incident: Incident): void {
    this.#each(incident, (sets, at) => {
      const keys = sets.get(at);
      if (keys === undefined) {
        sets.set(at, new Set([incident.dedupe_key]));
      } else {
        keys.add(incident.dedupe_key);
      }
    });
  }

  remove(incident: Incident): void {
    this.#each(incident, (sets, at) => {
      const keys = sets.get(at);
      keys?.delete(incident.dedupe_key);
      if (keys?.size === 0) {
        sets.delete(at);
      }
    });
  }

  /** Keys of what may inhibit the target, strongest first. */
  *candidates(target: Incident): Generator<string> {
    yield* this.#offline.get(target.device_id ?? '') ?? [];
    for (let rank = rising.length - 1; rank > rankOf(target); rank--) {
      yield* this.#scopes.get(scopeOf(target, rising[rank]!)) ?? [];
    }
  }

  #each(incident: Incident, put: (sets: Map<string, Set<string>>, at: string) => void): void {
    put(this.#scopes, scopeOf(incident, incident.severity));
    if (isOffline(incident) && incident.device_id !== null) {
      put(this.#offline, incident.device_id);
    }
  }
}

const scopeOf = ({ scope_type: type, scope_id: id }: Incident, severity: Severity): string => `${severity} ${type} ${id}`;
