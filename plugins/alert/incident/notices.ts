import type { Kysely } from 'kysely';
import type { Notice, NoticeDispatcher, Outcome } from 'svc/contracts/notify';
import type { Jobs } from 'svc/jobs';
import {
  type Clock,
  type EarlierOutbox,
  type Handle,
  type Logger,
  messageOf,
  type Tables,
} from 'svc/sdk';

import { errors } from './errors.ts';
import type { IncidentStore } from './incident-store.ts';
import type { HandOver } from './ledger/notice.ts';
import type { IncidentTables } from './ledger/tables.ts';

/** Payload of one job; jobs taken over from an outbox may hold a single notice. */
export type Batch = { readonly notices: readonly Notice[] } | Notice;

/** Well below what a job may have. */
const maxChars = 250_000;

function batches(notices: readonly Notice[]): readonly (readonly Notice[])[] {
  const found: Notice[][] = [];
  let chars = Infinity;
  for (const notice of notices) {
    const own = JSON.stringify(notice).length;
    if (chars + own > maxChars) {
      found.push([]);
      chars = 0;
    }
    found.at(-1)!.push(notice);
    chars += own;
  }
  return found;
}

const noticesOf = (batch: Batch): readonly Notice[] =>
  'notices' in batch ? batch.notices : [batch];

export interface NoticeQueueParts {
  readonly jobs: Jobs<IncidentTables>;
  readonly dispatcher: Handle<NoticeDispatcher>;
  readonly store: IncidentStore;
  readonly clock: Clock;
  readonly log: Logger;
}

const queue = 'notice';
const earlierTopic = 'alert/notice';

/**
 * Max tries: a notice waits for the plugin that sends it as long as it takes to restore that: some
 * weeks, at a try every few minutes.
 */
const tries = 10_000;

/**
 * Max notices sent within the transaction; more go as jobs, since the transaction of a storm has no
 * time for all of their channels.
 */
const maxAtOnce = 100;

/**
 * Hands notices to the plugin that sends them, in the transaction of the transition that they are about. While that plugin is away, or
 * more come than fit into a transaction, they wait as jobs; what comes after those waits behind them, so that each incident keeps its order.
 */
export class NoticeQueue {
  readonly #parts: NoticeQueueParts;

  constructor(parts: NoticeQueueParts) {
    const { jobs, store, clock } = parts;
    this.#parts = parts;
    jobs.queue<Batch>(queue, {
      tries,
      atOnce: 1,
      cancellable: false,
      title: (batch) => titleOf(noticesOf(batch)),
      work: ({ payload }) => this.#deliver(noticesOf(payload)),
      onFailed: (_tx, { payload, cause }) =>
        store.record(
          noticesOf(payload).map((notice) => undelivered(notice, cause)),
          clock.now(),
        ),
    });
  }

  readonly handOver: HandOver = async (tx, notices) => {
    const { jobs, dispatcher, log } = this.#parts;
    if (notices.length <= maxAtOnce && dispatcher.available && !(await jobs.hasOpen(tx, queue))) {
      try {
        await dispatcher.get().accept(...notices);
        return;
      } catch (error) {
        log.warn(
          { event: 'alert.notices_not_accepted', cause: messageOf(error) },
          'failed to pass notifications to the notify plugin; retrying as a job',
        );
      }
    }
    await this.#enqueue(
      tx,
      batches(notices).map((batch) => ({ notices: batch })),
    );
  };

  /** Takes over what the outbox of an earlier version has left. */
  async adopt(tables: Tables<IncidentTables>, earlier: EarlierOutbox): Promise<void> {
    if (!(await earlier.holds(earlierTopic))) {
      return;
    }
    await tables.write(async (tx) => {
      const left = await earlier.take<Batch>(earlierTopic);
      await this.#enqueue(
        tx,
        left.map(({ payload }) => payload),
      );
    });
  }

  /** Enqueues in one lane, so that the notices of an incident stay in order. */
  async #enqueue(tx: Kysely<IncidentTables>, waiting: readonly Batch[]): Promise<void> {
    await this.#parts.jobs.add(
      tx,
      queue,
      waiting.map((payload) => ({ payload, lane: 'notices' })),
    );
  }

  async #deliver(notices: readonly Notice[]): Promise<void> {
    const { dispatcher } = this.#parts;
    if (!dispatcher.available) {
      throw errors.notify_away();
    }
    await dispatcher.get().accept(...notices);
  }
}

const titleOf = (notices: readonly Notice[]): string =>
  notices.length === 1
    ? `Notice: incident ${notices[0]!.incident.id} ${notices[0]!.kind}`
    : `${notices.length} notices`;

export interface Recording {
  readonly store: IncidentStore;
  readonly ledger: { endCooldown(incidents: readonly number[]): Promise<void> };
  readonly now: number;
}

/**
 * Records delivery outcomes. Once a channel has been sent the end of an incident, no cooldown holds
 * back the next firing.
 */
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
  attempts: tries,
  error: cause,
  at: incident.fired_at,
});
