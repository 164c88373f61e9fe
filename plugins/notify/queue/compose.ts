import type { ChannelMessage, MessageEntry } from 'svc/contracts/notify';
import type { Tables } from 'svc/sdk';

import { errors } from './errors.ts';
import type { Knowledge } from '../message/knowledge.ts';
import {
  digestMessage,
  incidentMessage,
  type LinkOf,
  testMessage,
  wordsMessage,
} from '../message/message.ts';
import { digestSheet, incidentSheet, sheetsOf, withInstances } from '../message/paging.ts';
import { wordsGroup } from '../store/delivery-conditions.ts';
import { NoticeStore } from '../store/notice-store.ts';
import type { ChannelRow, Delivery, NotifyTables } from '../store/tables.ts';

export interface ComposingParts {
  readonly tables: Tables<NotifyTables>;
  readonly linkOf: LinkOf;
  readonly knowledge: Knowledge;
  readonly now: () => number;
}

/** Incidents that a digest may name, and that are read at once. */
const maxEntries = 200;

/** Composes the message of a delivery. */
export async function messageFor(
  { tables, linkOf, knowledge, now }: ComposingParts,
  row: Delivery,
  channel: ChannelRow,
): Promise<ChannelMessage> {
  const notices = new NoticeStore(tables.read);
  if (row.kind === 'test') {
    const words = row.group_key === wordsGroup ? await notices.words(row.id) : undefined;
    return words === undefined
      ? testMessage(row.id, channel.name, linkOf(undefined))
      : wordsMessage(words, linkOf(undefined));
  }
  if (row.kind === 'digest') {
    const digest = await notices.inDigest(row.seq, { from: 0, limit: maxEntries });
    const hosts = await knowledge.hosts(digest.notices.map(({ incident }) => incident));
    const contents = {
      entries: digest.notices,
      counts: digest.counts,
      group: row.group_key,
      hosts,
      now: now(),
    };
    return digestMessage(row.id, contents, linkOf({ digest: row.id }));
  }
  if (row.notice_id === null) {
    throw errors.no_notice({ id: row.id });
  }
  const notice = await notices.get(row.notice_id);
  const around = await knowledge.around(notice.incident);
  const { id } = notice.incident;
  const links = {
    link: linkOf({ incident: id }),
    act: linkOf({ act: id }),
    chart: linkOf({ chart: id }),
  };
  return incidentMessage(row.id, notice, {
    ...links,
    template: channel.template ?? undefined,
    around,
  });
}

/**
 * Yields the requests of a message for a program: incidents and instances that the usual message
 * only counts are in them.
 */
export async function* sheetsFor(
  parts: ComposingParts,
  row: Delivery,
  channel: ChannelRow,
): AsyncGenerator<ChannelMessage> {
  const message = await messageFor(parts, row, channel);
  const { kind, incident } = message;
  if (row.kind === 'digest') {
    for await (const sheet of sheetsOf(entriesOf(parts, row))) {
      yield digestSheet(message, sheet);
    }
  } else if (incident !== undefined && isOngoing(kind)) {
    for await (const sheet of sheetsOf(entryInParts(parts, { kind, incident }))) {
      yield incidentSheet(message, sheet);
    }
  } else {
    yield message;
  }
}

const isOngoing = (kind: ChannelMessage['kind']): kind is 'firing' | 'reminder' =>
  kind === 'firing' || kind === 'reminder';

/** Yields the entries of a digest, which takes nothing more while it is sent. */
async function* entriesOf(parts: ComposingParts, row: Delivery): AsyncGenerator<MessageEntry> {
  const store = new NoticeStore(parts.tables.read);
  for (let from = 0; ; from += maxEntries) {
    const { notices } = await store.inDigest(row.seq, { from, limit: maxEntries });
    for (const { kind, incident } of notices) {
      yield* entryInParts(parts, { kind, incident });
    }
    if (notices.length < maxEntries) {
      return;
    }
  }
}

async function* entryInParts(
  { knowledge }: ComposingParts,
  entry: MessageEntry,
): AsyncGenerator<MessageEntry> {
  const { instances = [], firing_instances: total = 1 } = entry.incident;
  const isPart = entry.kind !== 'resolved' && total > instances.length && total > 1;
  yield* withInstances(entry, isPart ? await knowledge.audible(entry.incident.id) : []);
}
