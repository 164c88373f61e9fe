import type { SeenDevices } from 'svc/query';
import { type AuditNote, defineEvent, defineService, type Principal } from 'svc/sdk';

import type { LabelRecord } from './metricsdb.ts';
import type { NoticeIncident, Severity } from './notify.ts';

export type IncidentStatus = 'open' | 'acknowledged' | 'silenced' | 'resolved';

/** An incident for other plugins: what channels are sent of it, and where it stands. */
export interface IncidentView extends NoticeIncident {
  readonly status: IncidentStatus;
  /** First of all its firings; `fired_at` is the one that lasts, or was the last. */
  readonly first_fired_at: string;
}

export interface IncidentEventView {
  readonly id: number;
  readonly type: string;
  readonly status_after: IncidentStatus;
  readonly message: string;
  readonly actor: {
    readonly type: 'system' | 'user' | 'agent';
    readonly id: string;
    readonly name: string;
  };
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

export type InstanceState = 'pending' | 'firing' | 'stale' | 'resolved';

/** One label set of an incident. */
export interface InstanceView {
  readonly labels: Readonly<Record<string, string>>;
  /** State of the instance; `stale` means that it fires and its source is silent. */
  readonly state: InstanceState;
  /** Measured last; null: no number. */
  readonly value: number | null;
  readonly worst_value: number | null;
  /** Time since which it is in this state. */
  readonly since: string;
  readonly last_seen_at: string;
  readonly resolved_at: string | null;
  /** `silence 7`: one by label; `incident`: the incident itself is silenced. */
  readonly silenced_by: string | null;
}

/** Measure of a rule: its query without the comparison. */
export interface IncidentMeasure {
  readonly store: 'metrics' | 'logs';
  /** PromQL or LogQL. */
  readonly query: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly threshold?: number;
  /** Kind of the rule, such as `trace_latency`. */
  readonly kind: string;
  /** Direction of the bad side, as far as the whole rule's query is a comparison. */
  readonly direction?: 'up' | 'down';
}

export interface Diagnosis {
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly by: string;
  readonly look?: number;
}

/**
 * Incidents, for other plugins. `seen` limits them to what the recipient may see; undefined means
 * all, for internal use.
 */
export interface Incidents {
  get(id: number, seen: SeenDevices): Promise<IncidentView | undefined>;
  /** Newest first. */
  list(
    filter: {
      readonly status?: readonly IncidentStatus[];
      readonly rule_key?: string;
      readonly device_id?: string;
      /** Limits to incidents that were firing at some time since then, in milliseconds. */
      readonly since?: number;
      /** Default 50, at most 200. */
      readonly limit?: number;
    },
    seen: SeenDevices,
  ): Promise<readonly IncidentView[]>;
  /** Returns at most 200 instances: current ones before those that have left within a day. */
  instances(id: number, seen: SeenDevices): Promise<readonly InstanceView[]>;
  /** Oldest first, at most 1,000. */
  events(id: number, seen: SeenDevices): Promise<readonly IncidentEventView[]>;
  /**
   * Returns the measure of its rule and the series that represents the incident; undefined unless
   * that is a single query.
   */
  measured(id: number): Promise<IncidentMeasure | undefined>;
  /** Writes a look of the investigator into the timeline, each once for each firing; `look` counts from 1, and is at most 9. */
  diagnose(id: number, diagnosis: Diagnosis): Promise<void>;
}

/**
 * Actor of a change to an incident, and where it is recorded for the audit trail. The caller has
 * checked the permission.
 */
export interface IncidentChange {
  readonly principal: Principal;
  readonly note: (note: AuditNote) => void;
}

/**
 * User actions on incidents, for plugins through which people act by other means than a request.
 */
export interface IncidentActions {
  acknowledge(
    id: number,
    note: string | undefined,
    change: IncidentChange,
  ): Promise<{ readonly status: string }>;
  /** Adds a note of at most 4,000 characters to the timeline, with data about its origin. */
  note(
    id: number,
    text: string,
    change: IncidentChange,
    data?: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly status: string }>;
  /** The same end again changes nothing. */
  silence(
    id: number,
    asked: { readonly until: string; readonly reason?: string },
    change: IncidentChange,
  ): Promise<{ readonly status: string }>;
  note(id: number, text: string, change: IncidentChange): Promise<{ readonly status: string }>;
}

/** A system that raises alerts itself and tells them here. */
export interface AlertSource {
  readonly id: number;
  /** Never changes: the keys of its incidents begin with it. */
  readonly key: string;
  /** Labels that tell incidents of one alert apart, as those of a rule do. */
  readonly dimensions: readonly string[];
}

/** One alert as its source tells it; what it tells again is the same alert when the labels are the same. */
export interface ToldAlert {
  readonly name: string;
  readonly severity: Severity;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runbook_url: string;
  readonly fires: boolean;
  /** When it began and ended by the clock of its system; undefined where that does not say. */
  readonly startsAt?: number | undefined;
  readonly endsAt?: number | undefined;
}

/** Alerts of other systems as incidents. */
export interface OthersAlerts {
  /**
   * Stores alerts and resolves once they are on disk; alerts of the source that are not among these
   * stay as they are. `left_out` is the number that did not fit.
   */
  take(source: AlertSource, alerts: readonly ToldAlert[]): Promise<{ readonly left_out: number }>;
  /**
   * Resolves alerts that the source has not re-sent for this long. Neither jumps of the wall clock
   * nor downtime of svc count.
   */
  endUnheard(source: AlertSource, unheardMs: number): Promise<void>;
  /** Resolves everything of a deleted source. */
  endAll(sourceId: number): Promise<void>;
  /** Sources with incidents that last. */
  sources(): readonly number[];
}

/** Fired after the commit: an incident is new, or has fired again. */
export interface IncidentFiredEvent {
  readonly incident: IncidentView;
  readonly reopened: boolean;
}

/** Fired after the commit of every transition, including firings. */
export interface IncidentChangedEvent {
  readonly id: number;
  readonly status: IncidentStatus;
  /** Device of the incident for a rule about hosts; null if it may span many devices. */
  readonly device_id: string | null;
  /** Latest timeline events, such as `acknowledged`. */
  readonly events: readonly string[];
}

/**
 * Evaluator for tests and commands: evaluates the rules that are due without waiting for the system
 * clock.
 */
export interface AlertEvaluator {
  /** Resolves when all that was due has been evaluated and stored. */
  tick(): Promise<void>;
}

/** An alert that holds, or waits until it has held long enough. */
export interface ActiveAlert {
  /** `alertname` among them. */
  readonly labels: LabelRecord;
  readonly annotations: LabelRecord;
  readonly state: 'pending' | 'firing';
  /** Milliseconds. */
  readonly activeAt: number;
  readonly value: number;
}

/** A rule with what came of its last evaluation. */
export interface AlertingRule {
  readonly name: string;
  readonly group: string;
  /** PromQL or LogQL. */
  readonly query: string;
  readonly intervalMs: number;
  readonly forMs: number;
  readonly labels: LabelRecord;
  readonly annotations: LabelRecord;
  readonly health: 'ok' | 'err' | 'unknown';
  readonly lastError?: string;
  /** Milliseconds; undefined before the first time. */
  readonly evaluatedAt?: number;
  readonly evaluationMs: number;
  readonly alerts: readonly ActiveAlert[];
}

/** Alerting rules with their alerts, provided by the evaluator and shown by the Prometheus API. */
export interface AlertingRules {
  /** Returns the rules with the alerts of visible devices; undefined means all devices. */
  rules(seen: SeenDevices): readonly AlertingRule[];
}

/** Work that people have announced, so that what stands still meanwhile is not held against it. */
export interface Maintenance {
  /**
   * Returns when the work that covers these labels now was announced, in milliseconds: the earliest
   * of the silences in force that select them whatever the rule; undefined if there is none.
   */
  announcedAt(labels: LabelRecord): number | undefined;
}

export const Incidents = defineService<Incidents>('alert.incidents');
export const Maintenance = defineService<Maintenance>('alert.maintenance');
export const IncidentActions = defineService<IncidentActions>('alert.deeds');
export const OthersAlerts = defineService<OthersAlerts>('alert.others');
export const AlertingRules = defineService<AlertingRules>('alert.rules');
export const AlertEvaluator = defineService<AlertEvaluator>('alert.evaluator');
export const IncidentFired = defineEvent<IncidentFiredEvent>('incident.fired');
export const IncidentChanged = defineEvent<IncidentChangedEvent>('incident.changed');
