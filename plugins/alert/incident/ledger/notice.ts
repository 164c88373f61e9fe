import type { Kysely } from 'kysely';
import type { Notice, NoticeIncident, NoticeInstance } from 'svc/contracts/notify';
import { timestamp } from 'svc/sdk';

import type { Instance } from '../../instance/instance.ts';
import type { DraftNotice } from './draft.ts';
import type { Incident } from './incident.ts';
import type { Leaver } from './leavers.ts';
import type { IncidentTables } from './tables.ts';

/** Hands notices over in the transaction of what they tell of. */
export type HandOver = (tx: Kysely<IncidentTables>, notices: readonly Notice[]) => Promise<void>;

/** Max instances named in the notice of an incident. */
const maxNamed = 20;

/** Builds the notice that channels are sent about an incident. */
export function noticeOf({
  kind,
  incident,
  again,
  burning,
  clearing,
  left,
  flapping,
  because,
}: Omit<DraftNotice, 'key'>): Notice {
  const { id, event_count: seq, version, pins } = incident;
  // There are several reminders of one firing, and several of who has joined it; each is of another version of the incident.
  const which = kind === 'reminder' || again ? `${kind}-${version}` : kind;
  const named = {
    ...noticeIncidentOf(incident),
    ...(because !== undefined && { ended_because: because }),
    ...(areNamed(incident, clearing) && {
      clearing_instances: clearing.length,
      clearing: clearing.slice(0, maxNamed).map(noticeInstanceOf),
    }),
    ...(areNamed(incident, left) && leaversIn(left)),
    ...(flapping && {
      flapping: { fires: flapping.count, window_seconds: flapping.windowMs / 1_000 },
    }),
  };
  return {
    id: `incident-${id}-${seq}-${which}`,
    kind,
    fire_seq: seq,
    incident: burning.length < 2 ? named : { ...named, ...instancesIn(burning) },
    pins,
  };
}

/**
 * Bounds of labels and annotations, which come from outside: what no message could hold must not
 * keep its incident from being stored.
 */
const bounds = { entries: 100, name: 200, text: 4_000, all: 60_000 };
const boundsOfInstance = { entries: 30, name: 200, text: 500, all: 6_000 };

function bounded(
  map: NoticeIncident['labels'],
  { entries, name: longestName, text: longestText, all }: typeof bounds,
): Record<string, string> {
  const kept: Record<string, string> = {};
  let left = all;
  for (const [name, text] of Object.entries(map).slice(0, entries)) {
    const [shortName, shortText] = [cut(name, longestName), cut(text, longestText)];
    left -= shortName.length + shortText.length;
    if (left < 0) {
      break;
    }
    kept[shortName] = shortText;
  }
  return kept;
}

/** Truncates a text without splitting a character. */
const cut = (text: string, most: number): string =>
  text.slice(0, most).replaceAll(/\p{Cs}/gu, '\ufffd');

const instancesIn = (
  burning: readonly Instance[],
): Pick<NoticeIncident, 'firing_instances' | 'instances'> => ({
  firing_instances: burning.length,
  instances: burning.slice(0, maxNamed).map(noticeInstanceOf),
});

/** An incident that was one instance all the time names that one itself. */
const areNamed = ({ lead }: Incident, some: readonly Pick<Instance, 'key'>[]): boolean =>
  some.length > 1 || (some.length === 1 && some[0]!.key !== lead);

const leaversIn = (left: readonly Leaver[]): Pick<NoticeIncident, 'left_instances' | 'left'> => ({
  left_instances: left.length,
  left: left
    .flatMap(({ instance, leftAt }) => (instance === undefined ? [] : [{ instance, leftAt }]))
    .slice(0, maxNamed)
    .map(({ instance, leftAt }) => ({ ...noticeInstanceOf(instance), until: timestamp(leftAt) })),
});

export const noticeInstanceOf = ({
  labels,
  reading: { value },
  startedAt,
}: Instance): NoticeInstance => ({
  labels: bounded(labels, boundsOfInstance),
  ...(value !== null && { value }),
  since: timestamp(startedAt),
});

export const noticeIncidentOf = (incident: Incident): NoticeIncident => ({
  id: incident.id,
  rule_key: incident.rule_key,
  rule_name: cut(incident.rule_name, bounds.text),
  severity: incident.severity,
  status: incident.status,
  scope_type: incident.scope_type,
  scope_id: cut(incident.scope_id, bounds.name),
  ...(incident.device_id !== null && { device_id: incident.device_id }),
  summary: cut(incident.summary, bounds.text),
  labels: bounded(incident.labels, bounds),
  annotations: bounded(incident.annotations, bounds),
  ...(incident.runbook_url !== '' && { runbook_url: incident.runbook_url }),
  dedupe_key: cut(incident.dedupe_key, bounds.text),
  ...(incident.value !== null && { value: incident.value }),
  ...(incident.threshold !== null && { threshold: incident.threshold }),
  fired_at: timestamp(incident.last_fired_at),
  ...(incident.resolved_at !== null && { resolved_at: timestamp(incident.resolved_at) }),
  event_count: incident.event_count,
});
