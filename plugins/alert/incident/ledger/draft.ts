import type { Notice } from 'svc/contracts/notify';

import { type Instance, isBurning } from '../../instance/instance.ts';
import type { FamilyOf } from './families.ts';
import type { Incident, NewEvent } from './incident.ts';
import { areToldApart, Inhibitors, isOffline } from './inhibitors.ts';
import { type InstanceTable, isNews } from './instance-table.ts';
import type { Step } from './transitions.ts';

/** Changes that one transaction will store; invisible elsewhere before the commit. */
export interface Changes {
  readonly incidents: ReadonlyMap<string, Incident>;
  readonly events: readonly {
    readonly key: string;
    readonly event: NewEvent;
    readonly status: Incident['status'];
    readonly severity: Incident['severity'];
  }[];
  readonly notices: readonly DraftNotice[];
  /** Changed instances by key; undefined means clear. */
  readonly instances: ReadonlyMap<string, ChangedInstance>;
}

export interface DraftNotice {
  readonly key: string;
  readonly kind: Notice['kind'];
  readonly incident: Incident;
  /** True if channels were already sent this firing, and it has since grown or got worse. */
  readonly again: boolean;
  /** Firing instances that are not muted, at the time of the draft. */
  readonly burning: readonly Instance[];
  /** Reason of the end, unless the condition cleared. */
  readonly because?: string | undefined;
}

export interface ChangedInstance {
  readonly ruleId: number;
  /** State before the transaction. */
  readonly before: Instance | undefined;
  readonly instance: Instance | undefined;
}

/** Stored state, as far as it is in memory. */
export interface LedgerState {
  readonly live: ReadonlyMap<string, Incident>;
  readonly instances: InstanceTable;
  readonly inhibitors: Pick<Inhibitors, 'in'>;
  readonly familyOf: FamilyOf;
}

/** State as one transaction sees it: the ledger's, overlaid with the transaction's changes. */
export class Draft {
  readonly #held: LedgerState;
  readonly #resolved = new Map<string, Incident>();
  readonly #incidents = new Map<string, Incident>();
  readonly #inhibitors: Inhibitors;
  readonly #events: {
    key: string;
    event: NewEvent;
    status: Incident['status'];
    severity: Incident['severity'];
  }[] = [];
  readonly #notices: DraftNotice[] = [];
  readonly #instances = new Map<string, ChangedInstance>();
  readonly #changedOfGroup = new Map<string, Set<string>>();

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

  /** Returns committed instances only: a rule is evaluated once in a transaction. */
  instancesOf(ruleId: number): ReadonlyMap<string, Instance> {
    return this.#held.instances.byRule.get(ruleId) ?? none;
  }

  /** The instances of an incident. */
  *members(group: string): Generator<Instance> {
    const changed = this.#changedOfGroup.get(group);
    for (const [key, instance] of this.#held.instances.of(group)) {
      if (changed?.has(key) !== true) {
        yield instance;
      }
    }
    for (const key of changed ?? []) {
      const { instance } = this.#instances.get(key)!;
      if (instance !== undefined) {
        yield instance;
      }
    }
  }

  /** Returns whether there are firing instances that channels were not notified of. */
  hasNews(group: string): boolean {
    return this.#changedOfGroup.has(group)
      ? [...this.members(group)].some(isNews)
      : this.#held.instances.hasNews(group);
  }

  /** A transition, with what the timeline says of it. */
  apply(step: Step | undefined): Incident | undefined {
    if (step === undefined) {
      return undefined;
    }
    const { incident, events } = step;
    this.setIncident(incident);
    for (const event of events) {
      this.#events.push({
        key: incident.dedupe_key,
        event,
        status: incident.status,
        severity: incident.severity,
      });
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
      if (
        source !== undefined &&
        this.#inhibitors.inhibits(source, target) &&
        this.#coversAll(source, target)
      ) {
        return source;
      }
    }
    return undefined;
  }

  /**
   * Returns whether each firing instance of one incident has its counterpart in the other; an
   * instance without one is reported nowhere else.
   */
  #coversAll(source: Incident, target: Incident): boolean {
    if (isOffline(source)) {
      return true;
    }
    const targets = [...this.members(target.dedupe_key)].filter(isBurning);
    const sources = [...this.members(source.dedupe_key)].filter(({ phase }) => phase === 'firing');
    return (
      targets.length * sources.length <= mostCompared &&
      targets.every(({ labels }) => sources.some((other) => !areToldApart(other.labels, labels)))
    );
  }

  addNotice(
    kind: Notice['kind'],
    incident: Incident,
    {
      again = false,
      burning = [],
      because,
    }: Partial<Pick<DraftNotice, 'again' | 'burning' | 'because'>> = {},
  ): void {
    this.#notices.push({ key: incident.dedupe_key, kind, incident, again, burning, because });
  }

  setInstance(ruleId: number, key: string, instance: Instance | undefined): void {
    const before = this.#instances.has(key)
      ? this.#instances.get(key)!.before
      : this.#held.instances.byRule.get(ruleId)?.get(key);
    this.#instances.set(key, { ruleId, before, instance });
    const group = (instance ?? before)?.group;
    if (group !== undefined) {
      this.#changedOfGroup.set(group, (this.#changedOfGroup.get(group) ?? new Set()).add(key));
    }
  }

  /** Keys of the incidents that are changed so far. */
  get changedKeys(): readonly string[] {
    return [...this.#incidents.keys()];
  }

  changes(): Changes {
    return {
      incidents: this.#incidents,
      events: this.#events,
      notices: this.#notices,
      instances: this.#instances,
    };
  }

  get isEmpty(): boolean {
    return this.#incidents.size === 0 && this.#events.length === 0 && this.#instances.size === 0;
  }
}

/** Max pairs of instances compared; larger incidents are never considered to cover one another. */
const mostCompared = 10_000;

const none: ReadonlyMap<string, Instance> = new Map();
