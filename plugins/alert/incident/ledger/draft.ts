import type { Notice } from 'svc/contracts/notify';

import { type Instance, isBurning } from '../../instance/instance.ts';
import type { FamilyOf } from './families.ts';
import type { Flapping, Incident, NewEvent } from './incident.ts';
import { areToldApart, Inhibitors, isOffline } from './inhibitors.ts';
import { type InstanceTable, isNews } from './instance-table.ts';
import { type Leaver, leaverOf, type Leavers } from './leavers.ts';
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
  /** Changed leavers by key; undefined means back again. */
  readonly leavers: ReadonlyMap<string, ChangedLeaver>;
  /** Incidents whose earlier leavers are named by a notice. */
  readonly named: ReadonlySet<string>;
}

export interface ChangedLeaver {
  readonly group: string;
  readonly leaver: Leaver | undefined;
}

export interface DraftNotice {
  readonly key: string;
  readonly kind: Notice['kind'];
  readonly incident: Incident;
  /** True if channels were already sent this firing, and it has since grown or got worse. */
  readonly again: boolean;
  /** Firing instances that are not muted, at the time of the draft. */
  readonly burning: readonly Instance[];
  /** Instances that channels know to fire, and whose condition the last evaluation found clear. */
  readonly clearing: readonly Instance[];
  /** Instances that left since channels were last notified. */
  readonly left: readonly Leaver[];
  /** Set if the notice says that the incident flaps. */
  readonly flapping?: Flapping | undefined;
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
  readonly leavers: Leavers;
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
  readonly #leavers = new Map<string, ChangedLeaver>();
  readonly #named = new Set<string>();

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
      targets.length * sources.length <= maxCompared &&
      targets.every(({ labels }) => sources.some((other) => !areToldApart(other.labels, labels)))
    );
  }

  addNotice(
    kind: Notice['kind'],
    incident: Incident,
    {
      again = false,
      burning = [],
      clearing = [],
      because,
      flapping,
    }: Partial<Pick<DraftNotice, 'again' | 'burning' | 'clearing' | 'because' | 'flapping'>> = {},
  ): void {
    const group = incident.dedupe_key;
    const left = this.unnamedLeavers(group);
    this.#notices.push({
      key: group,
      kind,
      incident,
      again,
      burning,
      clearing,
      left,
      because,
      flapping,
    });
    for (const leaver of left) {
      this.#leavers.set(leaver.key, { group, leaver: { ...leaver, isNamed: true } });
    }
    this.#named.add(group);
  }

  /** Returns the instances that left an incident and that no notice has named as gone. */
  unnamedLeavers(group: string): readonly Leaver[] {
    const held = [...this.#held.leavers.of(group)].flatMap(([key, leaver]) =>
      this.#leavers.has(key) ? [] : [leaver],
    );
    const changed = [...this.#leavers.values()].flatMap(({ group: of, leaver }) =>
      of === group && leaver !== undefined ? [leaver] : [],
    );
    return [...held, ...changed].filter(({ isNamed }) => !isNamed);
  }

  /** Stores that the condition of an instance has cleared; one that a person resolved before was named then. */
  leave(ruleId: number, instance: Instance, leftAt: number): void {
    this.setInstance(ruleId, instance.key, undefined);
    this.#leavers.set(instance.key, {
      group: instance.group,
      leaver: leaverOf(instance, leftAt, instance.phase === 'held'),
    });
  }

  /**
   * Stores that an instance has begun to fire. It is no news if channels were notified that it fires, and not that it
   * ceased to since: neither by name nor, so far, by the end of its incident.
   */
  join(ruleId: number, instance: Instance): void {
    const { key, group } = instance;
    const changed = this.#leavers.get(key);
    const leaver = changed === undefined ? this.#held.leavers.of(group).get(key) : changed.leaver;
    const believed =
      leaver !== undefined && (!leaver.isNamed || !this.#held.live.has(group))
        ? leaver.notified
        : instance.notified;
    this.setInstance(ruleId, key, { ...instance, notified: believed });
    if (leaver !== undefined) {
      this.#leavers.set(key, { group, leaver: undefined });
    }
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
      leavers: this.#leavers,
      named: this.#named,
    };
  }

  get isEmpty(): boolean {
    return this.#incidents.size === 0 && this.#events.length === 0 && this.#instances.size === 0;
  }
}

/** Max pairs of instances compared; larger incidents are never considered to cover one another. */
const maxCompared = 10_000;

const none: ReadonlyMap<string, Instance> = new Map();
