import type { Severity } from 'svc/contracts/notify';

import type { ScopeType } from '../../rule/rule.ts';

export type Status = 'open' | 'acknowledged' | 'silenced' | 'resolved';

export type EventType =
  | 'firing'
  | 'repeat_suppressed'
  | 'acknowledged'
  | 'silenced'
  | 'resolved'
  | 'reopened'
  | 'instances_changed'
  | 'note'
  | 'notification_sent'
  | 'notification_failed'
  | 'inhibited'
  | 'ai_initial_diagnosis';

export interface Actor {
  readonly type: 'system' | 'user' | 'agent';
  readonly id: string;
  readonly name: string;
}

/** Note in the timeline that a gate holds a notification back; `ref` is the cause. */
export interface Mark {
  readonly ref: string;
  readonly at: number;
}

export type Gate = 'silence' | 'inhibition' | 'cooldown' | 'dampening' | 'flapping';

/** Firings of an incident within the time that makes it flap. */
export interface Flapping {
  readonly count: number;
  readonly windowMs: number;
}

/**
 * Incident as the ledger holds it. `notified_at`, `fires` and the times of `marks` are steady, all
 * others are wall time.
 */
export interface Incident {
  /** 0 until it is stored. */
  readonly id: number;
  readonly dedupe_key: string;
  readonly rule_id: number;
  readonly rule_key: string;
  readonly rule_name: string;
  readonly severity: Severity;
  readonly status: Status;
  readonly scope_type: ScopeType;
  readonly scope_id: string;
  readonly device_id: string | null;
  /** Key of the instance that represents it: its labels, its value. */
  readonly lead: string;
  readonly summary: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** True if its summary and annotations may hold what a store answered about other devices. */
  readonly asked: boolean;
  readonly runbook_url: string;
  readonly pins: readonly number[];
  readonly value: number | null;
  readonly threshold: number | null;
  /** Number of firings so far, which is the number of the current or last firing. */
  readonly event_count: number;
  readonly notified_seq: number;
  /** Time of the last firing or reminder that was sent, unless its end was sent since. */
  readonly notified_at: number | null;
  readonly fires: readonly number[];
  /**
   * Marks of gates, and the time (wall) since which its rule has a condition other than the one it
   * fired by.
   */
  readonly marks: Readonly<Partial<Record<Gate | 'rule', Mark>>>;
  readonly fired_at: number;
  readonly last_fired_at: number;
  readonly acknowledged_at: number | null;
  readonly acknowledged_by: string | null;
  readonly silenced_until: number | null;
  readonly resolved_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly version: number;
}

/** A row of the timeline before it has an incident's id and a time. */
export interface NewEvent {
  readonly type: EventType;
  readonly message: string;
  readonly actor: Actor;
  readonly data: Readonly<Record<string, unknown>>;
}

export const evaluator: Actor = { type: 'system', id: 'evaluator', name: 'evaluator' };

export const isActive = ({ status }: Pick<Incident, 'status'>): boolean => status !== 'resolved';

/** Returns whether the current firing has not been notified yet. */
export const isUnnotified = ({
  notified_seq,
  event_count,
}: Pick<Incident, 'notified_seq' | 'event_count'>): boolean => notified_seq < event_count;
