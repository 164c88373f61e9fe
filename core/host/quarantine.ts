import type { Clock } from '../sdk/index.ts';
import type { HostMemory, QuarantineEntry } from './context/ports.ts';
import type { PluginRecord } from './record.ts';

const strikesToQuarantine = 3;
const strikeWindowMs = 10_000;
const firstRetryMs = 30_000;
const longestRetryMs = 15 * 60_000;

/** Three errors within ten seconds put a plugin out of service; it is tried again, ever later, at least each quarter of an hour. */
export class Quarantine {
  readonly #memory: HostMemory;
  readonly #clock: Clock;
  /** Being tried again; a new strike within the window sends them back with a longer wait. */
  readonly #probation = new Set<string>();

  constructor(memory: HostMemory, clock: Clock) {
    this.#memory = memory;
    this.#clock = clock;
  }

  /** Counts an error; true when it is one too many. */
  strike(record: PluginRecord, label: string, error: unknown): boolean {
    record.strike(label, error);
    const from = this.#clock.now() - strikeWindowMs;
    return (
      record.serving !== undefined &&
      record.strikes.filter((strike) => strike.at >= from).length >= strikesToQuarantine
    );
  }

  enter(record: PluginRecord, cause: string): QuarantineEntry {
    this.#probation.delete(record.id);
    const attempts = this.#memory.quarantined().get(record.id)?.attempts ?? 0;
    const wait = Math.min(firstRetryMs * 2 ** attempts, longestRetryMs);
    const entry: QuarantineEntry = {
      since: this.#clock.now(),
      cause,
      attempts: attempts + 1,
      retryAt: this.#clock.now() + wait,
      errors: record.strikes,
    };
    this.#memory.setQuarantine(record.id, entry);
    return entry;
  }

  of(id: string): QuarantineEntry | undefined {
    return this.#memory.quarantined().get(id);
  }

  /** Returns whether the plugin must stay down for now. */
  holds(id: string): boolean {
    return this.#memory.quarantined().has(id) && !this.#probation.has(id);
  }

  /** When a plugin may be tried again; an entry of an earlier version may hold no time. */
  retryAt(id: string): number {
    return this.of(id)?.retryAt ?? 0;
  }

  tryAgain(record: PluginRecord): void {
    record.strikes = [];
    record.stale = true;
    if (this.of(record.id)) {
      this.#probation.add(record.id);
    }
  }

  /** Clears the past of a plugin that was changed, reloaded by hand, or has behaved since. */
  release(record: PluginRecord): void {
    record.strikes = [];
    this.#probation.delete(record.id);
    if (this.#memory.quarantined().has(record.id)) {
      this.#memory.setQuarantine(record.id, undefined);
    }
  }

  /** Ends the probation of those that served a whole quarter of an hour without an error. */
  releaseProven(records: Iterable<PluginRecord>): void {
    const until = this.#clock.now() - longestRetryMs;
    for (const record of records) {
      if (
        this.#probation.has(record.id) &&
        record.serving &&
        record.since <= until &&
        record.strikes.length === 0
      ) {
        this.release(record);
      }
    }
  }
}
