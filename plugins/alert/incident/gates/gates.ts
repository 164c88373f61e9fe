import {
  type Flapping,
  type Gate,
  type Incident,
  isUnnotified,
  type Mark,
} from '../ledger/incident.ts';
import { isOffline } from '../ledger/inhibitors.ts';

/** Inputs of the gates at one moment. Times are steady. */
export interface GateView {
  readonly steady: number;
  readonly cooldownMs: number;
  /** 0: critical incidents are notified once. */
  readonly reminderMs: number;
  /** Returns the label silence in force, if all firing instances of the incident are muted. */
  silencedBy(incident: Incident): { readonly id: number } | undefined;
  /** Returns whether there are unmuted firing instances that channels do not know to fire. */
  hasNews(incident: Incident): boolean;
  /** An active incident that inhibits this one; the one of this key as long as it does. */
  inhibitor(incident: Incident, before: string | undefined): Incident | undefined;
  /** Returns whether the condition was met at the last evaluation. */
  holds(incident: Incident): boolean;
  dampening(incident: Incident): Dampening | undefined;
}

export interface Dampening {
  readonly windowMs: number;
  readonly minFires: number;
}

export type Decision =
  /** again: of a firing that was sent before, with those who have joined it since. */
  | {
      readonly kind: 'notify';
      readonly notice: 'firing' | 'reminder';
      readonly again: boolean;
      /** Set if the notice says that the incident flaps; later firings are held back until it settles. */
      readonly flapping?: Flapping;
    }
  | {
      readonly kind: 'suppress';
      readonly gate: Gate;
      readonly mark: Mark;
      readonly message: string;
      readonly data: Readonly<Record<string, unknown>>;
    };

type Suppression = Extract<Decision, { kind: 'suppress' }>;

/**
 * Decides whether channels are notified of an incident now. The first closed gate decides, and is
 * noted once; undefined means nothing to do. Whoever acknowledged it has seen the instances of that
 * time: only those that join it since are told. A held notice is decided again at every tick, so it is
 * sent as soon as no gate is closed.
 */
export function decide(incident: Incident, view: GateView): Decision | undefined {
  const isInHand = incident.status === 'acknowledged';
  if ((incident.status !== 'open' && !isInHand) || !view.holds(incident)) {
    return undefined;
  }
  const again = !isUnnotified(incident);
  if (isInHand && !(again && view.hasNews(incident))) {
    return undefined;
  }
  if (again && !view.hasNews(incident)) {
    return remind(incident, view);
  }
  const closed =
    silenceGate(incident, view) ??
    inhibitionGate(incident, view) ??
    cooldownGate(incident, view) ??
    dampeningGate(incident, view) ??
    (again ? undefined : flappingGate(incident, view));
  if (closed === undefined) {
    const flapping = again ? undefined : flappingOf(incident, view);
    return { kind: 'notify', notice: 'firing', again, ...(flapping && { flapping }) };
  }
  return incident.marks[closed.gate]?.ref === closed.mark.ref ? undefined : closed;
}

/** A critical incident that stays unacknowledged for long. */
function remind(incident: Incident, view: GateView): Decision | undefined {
  return isReminderDue(incident, view) && view.silencedBy(incident) === undefined
    ? { kind: 'notify', notice: 'reminder', again: true }
    : undefined;
}

export const isReminderDue = (
  { severity, notified_at: notified }: Pick<Incident, 'severity' | 'notified_at'>,
  { steady, reminderMs }: Pick<GateView, 'steady' | 'reminderMs'>,
): boolean =>
  severity === 'critical' && notified !== null && reminderMs > 0 && steady - notified >= reminderMs;

function silenceGate(
  incident: Incident,
  { silencedBy, steady }: GateView,
): Suppression | undefined {
  const silence = silencedBy(incident);
  return (
    silence && {
      kind: 'suppress',
      gate: 'silence',
      mark: { ref: `${incident.event_count}/${silence.id}`, at: steady },
      message: `silence ${silence.id} matches its labels`,
      data: { gate: 'silence', silence_id: silence.id, count: 1 },
    }
  );
}

function inhibitionGate(
  incident: Incident,
  { inhibitor, steady }: GateView,
): Suppression | undefined {
  const firing = `${incident.event_count}/`;
  const noted = incident.marks.inhibition?.ref;
  const source = inhibitor(
    incident,
    noted?.startsWith(firing) ? noted.slice(firing.length) : undefined,
  );
  return (
    source && {
      kind: 'suppress',
      gate: 'inhibition',
      mark: { ref: firing + source.dedupe_key, at: steady },
      message: `${source.rule_name} (${source.severity}) is active ${isOffline(source) ? 'on the same device' : 'and measures the same thing'}`,
      data: {
        gate: 'inhibition',
        inhibited_by: source.dedupe_key,
        inhibitor_severity: source.severity,
      },
    }
  );
}

/**
 * Holds back the repeat of what channels know to fire, except critical incidents; an instance that they do not know of
 * passes. `notified_at` is null once a channel has been sent the end.
 */
function cooldownGate(incident: Incident, view: GateView): Suppression | undefined {
  const { steady, cooldownMs } = view;
  const { notified_at: notified, notified_seq: seq, event_count: count, severity } = incident;
  if (
    severity === 'critical' ||
    notified === null ||
    steady - notified >= cooldownMs ||
    view.hasNews(incident)
  ) {
    return undefined;
  }
  return {
    kind: 'suppress',
    gate: 'cooldown',
    mark: { ref: String(seq), at: steady },
    message: 'the last notification of it is younger than the cooldown',
    data: {
      gate: 'cooldown',
      count: Math.max(1, count - seq),
      cooldown_seconds: cooldownMs / 1_000,
    },
  };
}

function dampeningGate(incident: Incident, view: GateView): Suppression | undefined {
  const rule = view.dampening(incident);
  const count =
    rule === undefined ? 0 : firesWithin(incident.fires, view.steady, rule.windowMs).length;
  if (rule === undefined || count >= rule.minFires) {
    return undefined;
  }
  const noted = incident.marks.dampening;
  const again = noted === undefined || view.steady - noted.at >= rule.windowMs;
  return {
    kind: 'suppress',
    gate: 'dampening',
    mark: again ? { ref: `${incident.event_count}/${view.steady}`, at: view.steady } : noted,
    message: `fired ${count} of ${rule.minFires} times within ${rule.windowMs / 1_000} s`,
    data: {
      gate: 'dampening',
      count,
      needed: rule.minFires,
      window_seconds: rule.windowMs / 1_000,
    },
  };
}

/** Firings within half an hour from which on an incident flaps. */
export const flaps = { minFires: 5, windowMs: 30 * 60_000 } as const;

function flappingOf({ fires }: Incident, { steady }: GateView): Flapping | undefined {
  const count = firesWithin(fires, steady, flaps.windowMs).length;
  return count >= flaps.minFires ? { count, windowMs: flaps.windowMs } : undefined;
}

/**
 * Holds back the firings of an incident that channels were told to flap, until it settles: it fires for as long as the
 * cooldown, or it no longer flaps.
 */
function flappingGate(incident: Incident, view: GateView): Suppression | undefined {
  const { steady, cooldownMs } = view;
  const told = incident.marks.flapping;
  const last = incident.fires.at(-1);
  const flapping = flappingOf(incident, view);
  if (
    incident.severity === 'critical' ||
    flapping === undefined ||
    told === undefined ||
    steady - told.at >= flaps.windowMs ||
    (last !== undefined && steady - last >= cooldownMs)
  ) {
    return undefined;
  }
  return {
    kind: 'suppress',
    gate: 'flapping',
    mark: { ref: `${told.ref.split('/')[0]}/${incident.event_count}`, at: told.at },
    message: `it flaps: fired ${flapping.count} times within ${flaps.windowMs / 60_000} minutes`,
    data: {
      gate: 'flapping',
      count: flapping.count,
      window_seconds: flaps.windowMs / 1_000,
    },
  };
}

export const firesWithin = (
  fires: readonly number[],
  steady: number,
  windowMs: number,
): readonly number[] => fires.filter((at) => at > steady - windowMs);

/** Records one more start of firing, keeping only as many as the gates need. */
export const countFire = (
  fires: readonly number[],
  steady: number,
  dampening: Dampening | undefined,
): readonly number[] => {
  const windowMs = Math.max(flaps.windowMs, dampening?.windowMs ?? 0);
  const max = Math.max(flaps.minFires, dampening?.minFires ?? 0);
  return [...firesWithin(fires, steady, windowMs), steady].slice(-max);
};
