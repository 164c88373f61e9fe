import { type RawBuilder, sql } from 'kysely';

// SQLite takes a partial index only for a query that repeats the index's condition word for word: each stands here once,
// and in migrations/ as it is here.

/** `notify_deliveries_open` */
export const isUnfinished = sql<boolean>`state in ('queued', 'sending')`;

/** `notify_deliveries_failing`: its first tries had failed, and it is tried again. */
export const isFailing = sql<boolean>`delayed_at is not null and ${isUnfinished}`;

/** `notify_deliveries_delayed`: the source of notices has not been given that yet. */
export const isDelayUnrecorded = sql<boolean>`delayed_at is not null and delay_recorded = 0`;

/** `notify_deliveries_unrecorded`, `notify_deliveries_unannounced` */
const unsent = {
  recorded: sql<boolean>`finished_at is not null and recorded = 0`,
  announced: sql<boolean>`finished_at is not null and announced = 0`,
};

/**
 * Consumer of outcomes: the source of notices, or the listeners of the event. The names are the
 * columns that record it.
 */
export type OutcomeConsumer = keyof typeof unsent;

export const isQueued = sql<boolean>`state = 'queued' and ${isUnfinished}`;
export const isUnsentTo = (consumer: OutcomeConsumer): RawBuilder<boolean> => unsent[consumer];

/** Condition that it is not in transit inside a digest. */
export const isAtRest = sql<boolean>`(digest is null or (select parent.state from notify_deliveries parent where parent.seq = notify_deliveries.digest) = 'queued')`;

/** The channel got it, may have got it, or still waits for it. */
export const mayBeKnown = (table: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${table}.got`)} = 1 or ${sql.ref(`${table}.unclear`)} = 1 or ${sql.ref(`${table}.state`)} in ('queued', 'sending'))`;

/** Group of deliveries with messages of other plugins. */
export const wordsGroup = 'words';
