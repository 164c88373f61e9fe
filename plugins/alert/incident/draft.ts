import type { Instance } from '../evaluator/instance.ts';
import type { FamilyOf } from '../gates/families.ts';
import { Inhibitors } from '../gates/inhibitors.ts';
import type { Notice } from '../../notify/contract.ts';
import type { Incident, NewEvent } from './incident.ts';
import type { Step } from './transitions.ts';

/** What one transaction will store; not visible elsewhere before the commit. */
export interface Changes {
  readonly incidents: ReadonlyMap<string, Incident>;
  readonly events: readonly { readonly key: string; readonly event: NewEvent; readonly status: Incident['status']; readonly severity: Incident['severity'] }[];
  readonly notices: readonly { readonly key: string; readonly kind: Notice['kind']; readonly incident: Incident }[];
  /** By dedupe key; undefined: clear. */
  readonly instances: ReadonlyMap<string, { readonly ruleId: number; readonly instance: Instance | undefined }>;
}

/** What is stored, as far as it is in memory. */
export interface LedgerState {
  readonly live: ReadonlyMap<string, Incident>;
  readonly instances: ReadonlyMap<number, ReadonlyMap<string, Instance>>;
  readonly inhibitors: Pick<Inhibitors, 'in'>;
  readonly familyOf: FamilyOf;
}

/** The state as one transaction sees it: what the ledger holds, and over it what the transaction has changed. */
export class Draft {
  readonly #held: LedgerState;
  readonly #resolved = new Map<string, Incident>();
  readonly #incidents = new Map<string, Incident>();
  readonly #inhibitors: Inhibitors;
  readonly #events: { key: string; event: NewEvent; status: Incident['status']; severity: Incident['severity'] }[] = [];
  readonly #notices: { key: string; kind: Notice['kind']; incident: Incident }[] = [];
  readonly #instances = new Map<string, { ruleId: number; instance: Instance | undefined }>();

  constructor(held: LedgerState) {
    this.#held = held;
    this.#inhibitors = new Inhibitors(held.familyOf);
  }

  /** Incidents that are over and may fire again. */
  addResolved(incidents: Iterable<Incident>): void {
    for (const incident of incidents) {
      this.#resolved.set(incident.dedupe_key, incident);
    }
  }

  incident(key: string): Incident | undefined {
    return this.#incidents.get(key) ?? this.#held.live.get(key) ?? this.#resolved.get(key);
  }

  *#candidates(target: Incident, before: string | undefined): Generator<string> {
    if (before !== undefined) {
      yield before;
    }
    for (const tier of this.#inhibitors.tiersAbove(target)) {
      yield* this.#inhibitors.in(tier);
      yield* this.#held.inhibitors.in(tier);
    }
  }

  instance(ruleId: number, key: string): Instance | undefined {
    const changed = this.#instances.get(key);
    return changed === undefined ? this.#held.instances.get(ruleId)?.get(key) : changed.instance;
  }

  /** Only what is held: a rule is evaluated once in a transaction. */
  instancesOf(ruleId: number): ReadonlyMap<string, Instance> {
    return this.#held.instances.get(ruleId) ?? none;
  }

  /** A transition, with what the timeline says of it. */
  apply(step: Step | undefined): Incident | undefined {
    if (step === undefined) {
      return undefined;
    }
    const { incident, events } = step;
    this.setIncident(incident);
    for (const event of events) {
      this.#events.push({ key: incident.dedupe_key, event, status: incident.status, severity: incident.severity });
    }
    return incident;
  }

  /** A change without a row in the timeline. */
  setIncident(incident: Incident): Incident {
    this.#incidents.set(incident.dedupe_key, incident);
    this.#inhibitors.add(incident);
    return incident;
  }

  inhibitor(target: Incident, before: string | undefined): Incident | undefined {
    for (const key of this.#candidates(target, before)) {
      const source = this.incident(key);
      if (source !== undefined && this.#inhibitors.inhibits(source, target)) {
        return source;
      }
    }
    return undefined;
  }

  addNotice(kind: Notice['kind'], incident: Incident): void {
    this.#notices.push({ key: incident.dedupe_key, kind, incident });
  }

  setInstance(ruleId: number, key: string, instance: Instance | undefined): void {
    this.#instances.set(key, { ruleId, instance });
  }

  /** Keys of the incidents that are changed so far. */
  get changedKeys(): readonly string[] {
    return [...this.#incidents.keys()];
  }

  changes(): Changes {
    return { incidents: this.#incidents, events: this.#events, notices: this.#notices, instances: this.#instances };
  }

  get isEmpty(): boolean {
    return this.#incidents.size === 0 && this.#events.length === 0 && this.#instances.size === 0;
  }
}

const none: ReadonlyMap<string, Instance> = new Map();
