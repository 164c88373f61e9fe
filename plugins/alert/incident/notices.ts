import type { Notice, NoticeDispatcher, NoticeIncident, Outcome } from 'svc/contracts/notify';
import { type Handle, type Outbox, type PluginContext, SvcError, timestamp } from 'svc/sdk';

import type { Instance } from '../instance/instance.ts';
import type { IncidentStore } from './incident-store.ts';
import type { DraftNotice } from './ledger/draft.ts';
import type { Incident } from './ledger/incident.ts';

/** Of the outbox. */
export const noticeTopic = 'notice';

/** A notice waits for a dispatcher as long as it takes to bring one back: some weeks, at a try every few minutes. */
const attempts = 10_000;

/** Of an incident with several instances, so many are named. */
const mostNamed = 20;

/** What channels are sent of an incident. */
export function noticeOf({
  kind,
  incident,
  again,
  burning,
  because,
}: Omit<DraftNotice, 'key'>): Notice {
  const { id, event_count: seq, version, pins } = incident;
  // There are several reminders of one firing, and several of who has joined it; each is of another version of the incident.
  const which = kind === 'reminder' || again ? `${kind}-${version}` : kind;
  const named = {
    ...noticeIncidentOf(incident),
    ...(because !== undefined && { ended_because: because }),
  };
  return {
    id: `incident-${id}-${seq}-${which}`,
    kind,
    fire_seq: seq,
    incident: burning.length < 2 ? named : { ...named, ...instancesIn(burning) },
    pins,
  };
}

/** Of labels and annotations, which come from afar: what no message could hold must not keep its incident from being stored. */
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

/** Half of a character is none. */
const cut = (text: string, most: number): string =>
  text.slice(0, most).replaceAll(/\p{Cs}/gu, '\ufffd');

const instancesIn = (
  burning: readonly Instance[],
): Pick<NoticeIncident, 'firing_instances' | 'instances'> => ({
  firing_instances: burning.length,
  instances: burning.slice(0, mostNamed).map(({ labels, reading: { value }, startedAt }) => ({
    labels: bounded(labels, boundsOfInstance),
    ...(value !== null && { value }),
    since: timestamp(startedAt),
  })),
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

/** What one message of the outbox holds; older ones hold one notice. */
interface Batch {
  readonly notices: readonly Notice[];
}

/** Well below what a message of the outbox may have. */
const mostChars = 250_000;

/** In one lane, so that those of an incident stay in order, and many of them go in few messages. */
export async function enqueueNotices(
  outbox: Pick<Outbox, 'enqueue'>,
  tx: Parameters<Outbox['enqueue']>[0],
  notices: readonly Notice[],
): Promise<void> {
  for (const batch of batches(notices)) {
    await outbox.enqueue(tx, noticeTopic, { notices: batch } satisfies Batch, { key: 'notices' });
  }
}

function batches(notices: readonly Notice[]): readonly (readonly Notice[])[] {
  const found: Notice[][] = [];
  let chars = Infinity;
  for (const notice of notices) {
    const own = JSON.stringify(notice).length;
    if (chars + own > mostChars) {
      found.push([]);
      chars = 0;
    }
    found.at(-1)!.push(notice);
    chars += own;
  }
  return found;
}

const noticesOf = (payload: Batch | Notice): readonly Notice[] =>
  'notices' in payload ? payload.notices : [payload];

/** Hands each notice to the dispatcher; it was stored in one transaction with the transition that it is about. */
export function deliverNotices(
  ctx: Pick<PluginContext, 'outbox' | 'clock'>,
  dispatcher: Handle<NoticeDispatcher>,
  store: IncidentStore,
): void {
  ctx.outbox.deliver<Batch | Notice>(
    noticeTopic,
    async ({ payload }) => {
      if (!dispatcher.available) {
        throw new SvcError(
          'unavailable',
          'notifications wait: the notify plugin is not running; enable it',
        );
      }
      await dispatcher.get().accept(...noticesOf(payload));
    },
    {
      attempts,
      backoffMs: 1_000,
      exhausted: async ({ payload }, cause) => {
        await store.record(
          noticesOf(payload).map((notice) => undelivered(notice, cause)),
          ctx.clock.now(),
        );
      },
    },
  );
}

export interface Recording {
  readonly store: IncidentStore;
  readonly ledger: { endCooldown(incidents: readonly number[]): Promise<void> };
  readonly now: number;
}

/** What became of deliveries. Once a channel has been sent the end of an incident, the next firing is news: no cooldown holds it back. */
export async function recordOutcomes(
  outcomes: readonly Outcome[],
  { store, ledger, now }: Recording,
): Promise<void> {
  await store.record(outcomes, now);
  const over = outcomes.filter(
    ({ kind, result }) => kind === 'resolved' && (result === 'sent' || result === 'folded'),
  );
  if (over.length > 0) {
    await ledger.endCooldown([...new Set(over.map(({ incident_id: id }) => id))]);
  }
}

const undelivered = ({ id, kind, incident }: Notice, cause: string): Outcome => ({
  delivery_id: `${id}/undispatched`,
  notice_id: id,
  incident_id: incident.id,
  kind,
  channel_id: 0,
  channel_name: 'every channel',
  result: 'failed',
  attempts,
  error: cause,
  at: incident.fired_at,
});
