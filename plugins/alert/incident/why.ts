import type { NoticeDispatcher } from 'svc/contracts/notify';
import type { SeenDevices } from 'svc/query';
import { type Handle, timestamp } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import type { IncidentStore } from './incident-store.ts';
import { noticeOf } from './ledger/notice.ts';
import { assertOfOneDevice } from './ledger/seen-incidents.ts';
import type { EventRow } from './ledger/tables.ts';

const Timestamp = Type.String({ format: 'date-time' });

export const WhyAnswer = Type.Object({
  incident_id: Type.Integer(),
  firing: Type.Integer({
    description: 'Sequence number of the current firing, or of the last one',
  }),
  notified: Type.Boolean({ description: 'Whether that firing was passed to the channels' }),
  gates: Type.Array(
    Type.Object({
      gate: Type.Enum([
        'silence',
        'inhibition',
        'cooldown',
        'dampening',
        'flapping',
        'acknowledged',
        'silenced',
      ]),
      reason: Type.String(),
      inhibited_by: Type.Optional(
        Type.String({ description: 'Dedupe key of the incident that inhibits this one' }),
      ),
      at: Timestamp,
    }),
    { description: 'What held back notifications for this firing, newest first' },
  ),
  channels: Type.Array(
    Type.Object({
      channel_id: Type.Integer(),
      name: Type.String(),
      outcome: Type.Enum(
        ['sent', 'folded', 'failed', 'delayed', 'overtaken', 'waiting', 'held_back', 'not_for_it'],
        {
          description:
            "folded: sent in one message with others; waiting: queued, or waiting for the rest of its group; held_back: held back by a gate; not_for_it: excluded by the channel's filters",
        },
      ),
      reason: Type.Optional(Type.String()),
      at: Type.Optional(Timestamp),
    }),
  ),
});

export type WhyAnswer = Static<typeof WhyAnswer>;

/** Rows of the timeline that are read for one firing. */
const maxRows = 500;

/** Why channels were, or were not, sent the present firing of an incident: what its timeline and the filters of the channels say. */
export class Why {
  readonly #store: IncidentStore;
  readonly #dispatcher: Handle<NoticeDispatcher>;

  constructor(store: IncidentStore, dispatcher: Handle<NoticeDispatcher>) {
    this.#store = store;
    this.#dispatcher = dispatcher;
  }

  async of(id: number, seen: SeenDevices): Promise<WhyAnswer> {
    const incident = await this.#store.get(id, seen);
    assertOfOneDevice(incident, seen);
    const { items } = await this.#store.events(
      incident,
      { order: 'desc' },
      { limit: maxRows },
      seen,
    );
    const start = items.findIndex(({ type }) => type === 'firing');
    const rows = start < 0 ? items : items.slice(0, start);
    const notified = incident.notified_seq >= incident.event_count;
    const gates = rows.flatMap(gateOf);
    const filters = this.#dispatcher.available
      ? await this.#dispatcher.get().preview(
          noticeOf({
            kind: 'firing',
            incident,
            again: false,
            burning: [],
            clearing: [],
            left: [],
          }),
        )
      : [];
    const ends = endsOf(rows);
    const known = new Set(filters.map(({ channel_id: channel }) => channel));
    const gone = [...ends.values()].filter(({ channel_id: channel }) => !known.has(channel));
    const there = filters.map(
      ({ channel_id: channel, name, sends, reason }): WhyAnswer['channels'][number] => {
        const outcome = !sends ? 'not_for_it' : notified ? 'waiting' : 'held_back';
        const why = reason ?? (outcome === 'held_back' ? gates[0]?.reason : undefined);
        return (
          ends.get(channel) ?? {
            channel_id: channel,
            name,
            outcome,
            ...(why !== undefined && { reason: why }),
          }
        );
      },
    );
    // Channels that are for others say by their names who these are.
    const shown =
      seen === undefined ? there : there.filter(({ outcome }) => outcome !== 'not_for_it');
    return {
      incident_id: id,
      firing: incident.event_count,
      notified,
      gates,
      channels: [...shown, ...gone],
    };
  }
}

function gateOf({ type, message, data, created_at: at }: EventRow): WhyAnswer['gates'] {
  const { gate, inhibited_by: by } = JSON.parse(data) as {
    gate?: WhyAnswer['gates'][number]['gate'];
    inhibited_by?: string;
  };
  const closed =
    type === 'acknowledged' || type === 'silenced'
      ? type
      : type === 'inhibited' || type === 'repeat_suppressed'
        ? gate
        : undefined;
  return closed === undefined
    ? []
    : [
        {
          gate: closed,
          reason: message,
          ...(by !== undefined && { inhibited_by: by }),
          at: timestamp(at),
        },
      ];
}

/** Returns the outcome of the firing on each channel; the newest row counts. */
function endsOf(rows: readonly EventRow[]): ReadonlyMap<number, WhyAnswer['channels'][number]> {
  const ends = new Map<number, WhyAnswer['channels'][number]>();
  for (const { type, data, created_at: at } of rows) {
    const said = JSON.parse(data) as {
      channel_id?: number;
      channel_name?: string;
      kind?: string;
      result?: string;
      error?: string;
    };
    if (
      (type === 'notification_sent' || type === 'notification_failed') &&
      said.kind === 'firing' &&
      said.channel_id !== undefined &&
      !ends.has(said.channel_id)
    ) {
      ends.set(said.channel_id, {
        channel_id: said.channel_id,
        name: said.channel_name ?? '',
        outcome: said.result as WhyAnswer['channels'][number]['outcome'],
        ...(said.error !== undefined && { reason: said.error }),
        at: timestamp(at),
      });
    }
  }
  return ends;
}
