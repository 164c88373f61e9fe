import { type Instance, isBurning } from '../../instance/instance.ts';
import type { Draft } from '../ledger/draft.ts';
import { evaluator, type Flapping, type Incident, isUnnotified } from '../ledger/incident.ts';
import { decide, type GateView, isReminderDue } from './gates.ts';

/** Fields that a label silence looks at. */
export type Mutable = Pick<
  Incident,
  'rule_key' | 'severity' | 'scope_type' | 'scope_id' | 'device_id' | 'labels'
>;

/** Inputs of the gates that the ledger does not know. */
export interface GateInputs extends Omit<
  GateView,
  'inhibitor' | 'holds' | 'silencedBy' | 'hasNews'
> {
  /** The label silence in force that matches. */
  silencedBy(one: Mutable): { readonly id: number } | undefined;
}

type OfRule = Pick<Mutable, 'rule_key' | 'severity' | 'scope_type'>;

/**
 * Returns an instance as label silences see it; one that represents all series of its incident
 * belongs to no device except its scope.
 */
export const mutableOf = (
  { key, group, scopeId, deviceId, labels }: Instance,
  { rule_key, severity, scope_type }: OfRule,
): Mutable => ({
  rule_key,
  severity,
  scope_type,
  labels,
  scope_id: scopeId,
  device_id: key === group && scopeId !== deviceId ? null : deviceId,
});

export const isMuted = (
  instance: Instance,
  of: OfRule,
  { silencedBy }: Pick<GateInputs, 'silencedBy'>,
): boolean => silencedBy(mutableOf(instance, of)) !== undefined;

/** Evaluates the gates for each of these incidents, and records their decisions. */
export function review(draft: Draft, keys: Iterable<string>, gateInputs: GateInputs): void {
  const view: GateView = {
    ...gateInputs,
    inhibitor: (incident, before) => draft.inhibitor(incident, before),
    silencedBy: (incident) => silenceOfAll(draft, incident, gateInputs),
    hasNews: (incident) =>
      draft.hasNews(incident.dedupe_key) &&
      audible(draft, incident, gateInputs).some(({ notified }) => !notified),
    holds: ({ dedupe_key: group }) => burning(draft, group).next().done !== true,
  };
  for (const key of keys) {
    const incident = draft.incident(key);
    const decision = incident && decide(incident, view);
    if (incident === undefined || decision === undefined) {
      continue;
    }
    if (decision.kind === 'notify') {
      notify(draft, incident, decision, gateInputs);
      continue;
    }
    const { gate, mark, message, data } = decision;
    draft.apply({
      incident: { ...incident, marks: { ...incident.marks, [gate]: mark } },
      events: [
        {
          type: gate === 'inhibition' ? 'inhibited' : 'repeat_suppressed',
          message,
          actor: evaluator,
          data,
        },
      ],
    });
  }
}

interface Announcement {
  readonly notice: 'firing' | 'reminder';
  readonly again: boolean;
  readonly flapping?: Flapping;
}

/** Channels are sent that it fires, with all of its instances that do and are not muted. */
export function notify(
  draft: Draft,
  incident: Incident,
  { notice, again, flapping }: Announcement,
  gateInputs: GateInputs,
): void {
  const { steady } = gateInputs;
  const heard = audible(draft, incident, gateInputs);
  const mark = { ref: String(incident.event_count), at: steady };
  const sent = draft.setIncident({
    ...incident,
    notified_seq: incident.event_count,
    notified_at: steady,
    ...(flapping && { marks: { ...incident.marks, flapping: mark } }),
  });
  draft.addNotice(notice, sent, {
    again: again && notice === 'firing',
    burning: heard,
    clearing: clearing(draft, incident, gateInputs),
    flapping,
  });
  for (const instance of heard.filter(({ notified }) => !notified)) {
    draft.setInstance(incident.rule_id, instance.key, { ...instance, notified: true });
  }
}

function* burning(draft: Draft, group: string): Generator<Instance> {
  for (const member of draft.members(group)) {
    if (isBurning(member)) {
      yield member;
    }
  }
}

/** Returns the instances that channels know to fire, and whose condition the last evaluation found clear. */
const clearing = (draft: Draft, incident: Incident, gateInputs: GateInputs): readonly Instance[] =>
  [...draft.members(incident.dedupe_key)].filter(
    (member) =>
      member.phase === 'firing' &&
      member.clearedAt !== null &&
      member.notified &&
      !isMuted(member, incident, gateInputs),
  );

/** Returns the firing instances that no label silence mutes. */
const audible = (draft: Draft, incident: Incident, gateInputs: GateInputs): readonly Instance[] =>
  [...burning(draft, incident.dedupe_key)].filter(
    (member) => !isMuted(member, incident, gateInputs),
  );

/**
 * Returns the first of the silences that together mute every firing instance; undefined if any of
 * them is not muted.
 */
function silenceOfAll(
  draft: Draft,
  incident: Incident,
  { silencedBy }: GateInputs,
): { readonly id: number } | undefined {
  let first: { readonly id: number } | undefined;
  for (const member of burning(draft, incident.dedupe_key)) {
    const silence = silencedBy(mutableOf(member, incident));
    if (silence === undefined) {
      return undefined;
    }
    first ??= silence;
  }
  return first;
}

/**
 * Returns whether the gates could decide anything new; cheap, since it is asked of all incidents at
 * every tick.
 */
export const concernsGates = (
  incident: Incident,
  hasNews: boolean,
  gateInputs: Pick<GateInputs, 'steady' | 'reminderMs'>,
): boolean =>
  incident.status === 'acknowledged'
    ? hasNews
    : incident.status === 'open' &&
      (hasNews || isUnnotified(incident) || isReminderDue(incident, gateInputs));
