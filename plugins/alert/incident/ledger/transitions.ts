import { formatDuration } from 'svc/query';
import { timestamp } from 'svc/sdk';

import type { Instance } from '../../instance/instance.ts';
import type { Rule } from '../../rule/rule.ts';
import { unitOf } from '../../rule/unit.ts';
import { mayAsk } from '../../template/answers.ts';
import { errors } from './errors.ts';
import { type Actor, evaluator, type Incident, type NewEvent } from './incident.ts';

/** Next state of an incident with its timeline entry; undefined if there is nothing to do. */
export interface Step {
  readonly incident: Incident;
  readonly events: readonly NewEvent[];
}

/** Firing instance as the evaluator found it. */
export interface Firing {
  readonly rule: Rule;
  /** The instance that stands for all of its incident. */
  readonly lead: Instance;
  /** Name of its device. */
  readonly device: string | undefined;
  readonly severity: Rule['severity'];
  readonly annotations: Readonly<Record<string, string>>;
  readonly threshold: number | null;
  /** Forecast only: seconds until its bound is reached. */
  readonly eta: number | null;
  /** Forecast only: conditions under which it may be drawn. */
  readonly needs?: string | undefined;
  /** The evaluation that found it. */
  readonly at: number;
}

/** Throws for a user action that the current state does not allow. */
function refuse({ id, status }: Incident, what: string, hint: string): never {
  throw errors.wrong_state({ id, status, what, hint });
}

/** The first firing of a key, or one more of an incident that was resolved. */
export function fire(known: Incident | undefined, firing: Firing, now: number): Step {
  const { rule } = firing;
  const incident: Incident = {
    id: known?.id ?? 0,
    ...ofRule(rule),
    ...ofLead(firing),
    status: 'open',
    event_count: (known?.event_count ?? 0) + 1,
    notified_seq: known?.notified_seq ?? 0,
    notified_at: known?.notified_at ?? null,
    fires: known?.fires ?? [],
    marks: known?.marks ?? {},
    fired_at: known?.fired_at ?? firing.at,
    last_fired_at: firing.at,
    acknowledged_at: null,
    acknowledged_by: null,
    silenced_until: null,
    resolved_at: null,
    created_at: known?.created_at ?? now,
    updated_at: now,
    version: known?.version ?? 0,
  };
  const data = {
    value: incident.value,
    threshold: firing.threshold,
    count: incident.event_count,
    ...(incident.asked && { asked: true }),
    ...(firing.eta !== null && { eta_at: timestamp(firing.at + Math.round(firing.eta * 1_000)) }),
  };
  const fired: NewEvent = { type: 'firing', message: incident.summary, actor: evaluator, data };
  const again: NewEvent = {
    type: 'reopened',
    message: 'fired again',
    actor: evaluator,
    data: { reason: 'fired_again' },
  };
  return { incident, events: known === undefined ? [fired] : [again, fired] };
}

/** Instances that have joined or left an incident, and how many fire now. */
export interface Membership {
  readonly joined: readonly Instance[];
  readonly left: readonly Instance[];
  readonly firing: number;
}

/** Max instances named in the timeline. */
const maxNamed = 20;

/**
 * Returns the step of an incident during which some of its instances have begun or ceased to fire.
 */
export function change(
  known: Incident,
  firing: Firing,
  { joined, left, firing: count }: Membership,
  now: number,
): Step {
  const incident: Incident = { ...known, ...ofLead(firing), updated_at: now };
  const turns = [
    joined.length > 0 && `${joined.length} joined`,
    left.length > 0 && `${left.length} left`,
  ].filter((turn) => turn !== false);
  const labelsOf = (instances: readonly Instance[]): readonly Instance['labels'][] =>
    instances.slice(0, maxNamed).map(({ labels }) => labels);
  const data = {
    joined: labelsOf(joined),
    joined_count: joined.length,
    left: labelsOf(left),
    left_count: left.length,
    firing: count,
  };
  return step(
    incident,
    'instances_changed',
    evaluator,
    `${turns.join(', ')}, ${count} firing`,
    data,
  );
}

/** Returns the fields of an incident that come from its lead instance. */
const ofLead = (firing: Firing): Pick<Incident, LeadFields> => ({
  dedupe_key: firing.lead.group,
  scope_type: firing.rule.scope_type,
  scope_id: firing.lead.scopeId,
  device_id: firing.lead.deviceId,
  lead: firing.lead.key,
  summary: summaryOf(firing),
  labels: firing.lead.labels,
  annotations: firing.annotations,
  severity: firing.severity,
  asked: mayAsk(firing.rule.annotations),
  value: firing.lead.reading.value,
  threshold: firing.threshold,
});

type LeadFields =
  | 'dedupe_key'
  | 'scope_type'
  | 'scope_id'
  | 'device_id'
  | 'lead'
  | 'summary'
  | 'labels'
  | 'annotations'
  | 'severity'
  | 'asked'
  | 'value'
  | 'threshold';

/**
 * Returns the fields of an incident that come from its rule, also when the rule is edited
 * meanwhile.
 */
export const ofRule = (
  rule: Rule,
): Pick<Incident, 'rule_id' | 'rule_key' | 'rule_name' | 'severity' | 'runbook_url' | 'pins'> => ({
  rule_id: rule.id,
  rule_key: rule.rule_key,
  rule_name: rule.name,
  severity: rule.severity,
  runbook_url: rule.runbook_url,
  pins: rule.notify_channel_ids,
});

export function acknowledge(
  incident: Incident,
  actor: Actor,
  note: string | undefined,
  now: number,
): Step | undefined {
  switch (incident.status) {
    case 'acknowledged':
      return undefined;
    case 'open': {
      const changed = {
        ...incident,
        status: 'acknowledged' as const,
        acknowledged_at: now,
        acknowledged_by: actor.name,
        updated_at: now,
      };
      return step(
        changed,
        'acknowledged',
        actor,
        note ?? `acknowledged by ${actor.name}`,
        note === undefined ? {} : { note },
      );
    }
    case 'silenced':
      return refuse(incident, 'acknowledged', 'end its silence first');
    case 'resolved':
      return refuse(incident, 'acknowledged', 'it has ended already');
  }
}

/** Ends that are nearer to each other are the same: "an hour from now" is a little later each time. */
const sameEndMs = 60_000;

export function silence(
  incident: Incident,
  actor: Actor,
  until: number,
  reason: string | undefined,
  now: number,
): Step | undefined {
  const before = incident.silenced_until;
  switch (incident.status) {
    case 'silenced':
      // A repeated request has the end that was meant, and a later one extends it; one for an earlier end must not look like a success.
      if (Math.abs(until - before!) <= sameEndMs) {
        return undefined;
      }
      return until > before!
        ? mute('extended')
        : refuse(
            incident,
            'silenced for less',
            `it is until ${timestamp(before!)}; end that silence first`,
          );
    case 'open':
      return mute('silenced');
    case 'acknowledged':
      return refuse(incident, 'silenced', 'it is acknowledged, and nothing more is sent about it');
    case 'resolved':
      return refuse(
        incident,
        'silenced',
        'it has ended already; POST /api/v1/alerts/silences mutes future ones',
      );
  }

  function mute(how: 'silenced' | 'extended'): Step {
    const changed = {
      ...incident,
      status: 'silenced' as const,
      silenced_until: until,
      updated_at: now,
    };
    const data = {
      until: timestamp(until),
      ...(how === 'extended' && { extended_from: timestamp(before!) }),
      ...(reason !== undefined && { reason }),
    };
    return step(
      changed,
      'silenced',
      actor,
      reason ?? `${how} by ${actor.name} until ${timestamp(until)}`,
      data,
    );
  }
}

/** The silence is over while the condition lasts. */
export function unsilence(
  incident: Incident,
  actor: Actor,
  reason: 'silence_expired' | 'silence_ended',
  now: number,
): Step | undefined {
  switch (incident.status) {
    case 'open':
      return undefined;
    case 'silenced': {
      const changed = {
        ...incident,
        status: 'open' as const,
        silenced_until: null,
        updated_at: now,
      };
      return step(
        changed,
        'reopened',
        actor,
        reason === 'silence_expired'
          ? 'its silence has expired'
          : `${actor.name} ended its silence`,
        { reason },
      );
    }
    case 'acknowledged':
    case 'resolved':
      return refuse(incident, 'un-silenced', 'it has no silence');
  }
}

export type ResolveReason =
  | 'cleared'
  | 'not_heard'
  | 'by_user'
  | 'not_told'
  | 'source_removed'
  | 'rule_changed'
  | 'rule_edited'
  | 'rule_disabled'
  | 'rule_deleted';

const endings: Readonly<Record<ResolveReason, (actor: Actor) => string>> = {
  cleared: () => 'its condition is no longer met',
  not_heard: () =>
    'its source was not heard for 15 minutes; whether the condition lasts is not known',
  by_user: ({ name }) => `resolved by ${name}`,
  not_told: () => 'its source has not re-sent it; its current state is unknown',
  source_removed: () => 'its source was deleted',
  rule_changed: () => 'its rule was changed to another key, scope or dimensions',
  rule_edited: () =>
    'its rule got another condition in the meantime, which is not met; whether the previous one still is, is unknown',
  rule_disabled: () => 'its rule was disabled',
  rule_deleted: () => 'its rule was deleted',
};

/** Returns the reason of the end in words; undefined if it simply cleared. */
export const endingOf = (reason: ResolveReason, actor: Actor): string | undefined =>
  reason === 'cleared' ? undefined : endings[reason](actor);

export function resolve(
  incident: Incident,
  actor: Actor,
  reason: ResolveReason,
  note: string | undefined,
  now: number,
): Step | undefined {
  if (incident.status === 'resolved') {
    return undefined;
  }
  const changed = {
    ...incident,
    status: 'resolved' as const,
    resolved_at: now,
    silenced_until: null,
    updated_at: now,
  };
  return step(changed, 'resolved', actor, note ?? endings[reason](actor), {
    reason,
    ...(note !== undefined && { note }),
  });
}

const step = (
  incident: Incident,
  type: NewEvent['type'],
  actor: Actor,
  message: string,
  data: NewEvent['data'],
): Step => ({
  incident,
  events: [{ type, message, actor, data }],
});

function summaryOf({ rule, annotations, lead, device, threshold, eta, needs }: Firing): string {
  const { value } = lead.reading;
  const where = device === undefined ? '' : ` on ${device}`;
  const unit = unitOf(rule);
  const what =
    value === null
      ? ''
      : `: ${readable(value, threshold)}${unit}${threshold === null ? '' : `, threshold ${rounded(threshold, 6)}${unit}`}`;
  const when = eta === null ? '' : `, reached in ${shownSpan(eta)}`;
  const basis = needs === undefined ? '' : ` (forecast on ${needs})`;
  return annotations['summary'] ?? `${rule.name}${where}${what}${when}${basis}`;
}

/** Formats a span, to the minute if it is longer than one. */
const shownSpan = (seconds: number): string =>
  formatDuration(Math.round(seconds < 60 ? seconds : Math.round(seconds / 60) * 60) * 1_000);

/**
 * Formats a number with four digits, or those of its whole part, or as many as distinguish it from
 * the value it is compared to.
 */
function readable(value: number, beside: number | null): string {
  const whole = String(Math.trunc(Math.abs(value))).length;
  const digits =
    [4, 5].find((count) => count >= whole && rounded(value, count) !== String(beside)) ?? 6;
  return rounded(value, digits);
}

const rounded = (value: number, digits: number): string =>
  String(Number(value.toPrecision(digits)));
