import { type Clock, type Counter, type Handle, type Logger, messageOf, type Tables, timestamp } from 'svc/sdk';

import type { Notice, NoticeSource, Outcome } from './contract.ts';
import { deliveryStore } from './delivery-store.ts';
import type { Delivery, NotifyTables } from './tables.ts';

export interface TellerParts {
  readonly tables: Tables<NotifyTables>;
  readonly source: Handle<NoticeSource>;
  readonly announce: (outcome: Outcome) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly outcomes?: Counter;
}

/** Tells of every end: the source of notices until it has taken it, everybody else once. */
export interface Teller {
  tell(): Promise<void>;
}

/** Batches in one go; what is beyond them comes the next time. */
const mostBatches = 10;

const batch = 500;
const mostAtOnce = 50;
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

export function createTeller({ tables, source, announce, clock, log, outcomes }: TellerParts): Teller {
  /** Outcomes that the source could not take: how often, and until when they wait. */
  const refused = new Map<number, { readonly times: number; readonly until: number }>();

  /** Whether there may be more. */
  async function tellSome(): Promise<boolean> {
    const fresh = await deliveryStore(tables.read).untold('announced', batch);
    if (fresh.length > 0) {
      await tables.write((tx) =>
        deliveryStore(tx).told(
          fresh.map(({ seq }) => seq),
          'announced',
        ),
      );
      for (const row of fresh) {
        announce(outcomeOf(row));
        outcomes?.add(1, { result: row.state });
      }
    }
    const unrecorded = source.available ? await deliveryStore(tables.read).untold('recorded', batch) : [];
    const taken = await recordAll(unrecorded);
    return fresh.length === batch || (unrecorded.length === batch && taken > 0);
  }

  /** Incidents side by side, the outcomes of one in their order. */
  async function recordAll(rows: readonly Delivery[]): Promise<number> {
    const byIncident = new Map<number, Delivery[]>();
    for (const row of rows) {
      byIncident.set(row.incident_id, [...(byIncident.get(row.incident_id) ?? []), row]);
    }
    const all = [...byIncident.values()];
    let count = 0;
    for (let from = 0; from < all.length; from += mostAtOnce) {
      const taken = (await Promise.all(all.slice(from, from + mostAtOnce).map(recordInOrder))).flat();
      await tables.write((tx) => deliveryStore(tx).told(taken, 'recorded'));
      count += taken.length;
    }
    return count;
  }

  async function recordInOrder(rows: readonly Delivery[]): Promise<number[]> {
    const taken: number[] = [];
    for (const row of rows) {
      const held = refused.get(row.seq);
      if (held !== undefined && held.until > clock.monotonic()) {
        break;
      }
      try {
        await source.get().record(outcomeOf(row));
      } catch (error) {
        const times = (held?.times ?? 0) + 1;
        refused.set(row.seq, { times, until: clock.monotonic() + Math.min(firstWaitMs * 2 ** (times - 1), longestWaitMs) });
        log.warn({ delivery: row.id, times, cause: messageOf(error) }, `an outcome could not be recorded and is told again: ${messageOf(error)}`);
        break;
      }
      refused.delete(row.seq);
      taken.push(row.seq);
    }
    return taken;
  }

  return {
    async tell() {
      let batches = 1;
      while ((await tellSome()) && batches < mostBatches) {
        batches += 1;
      }
    },
  };
}

const outcomeOf = (row: Delivery): Outcome => ({
  delivery_id: row.id,
  notice_id: row.notice_id!,
  incident_id: row.incident_id,
  kind: row.kind as Notice['kind'],
  channel_id: row.channel_id,
  channel_name: row.channel_name,
  result: row.state as Outcome['result'],
  attempts: row.attempts,
  ...(row.error !== null && row.state === 'failed' && { error: row.error }),
  at: timestamp(row.finished_at!),
});
