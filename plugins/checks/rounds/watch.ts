import {
  type Clock,
  type Counter,
  type Histogram,
  type Logger,
  messageOf,
  type Tables,
} from 'svc/sdk';

import { type Check, orderOf } from '../check/check.ts';
import { checkStore, type CheckTables } from '../check/check-store.ts';
import { UptimeAccount } from '../uptime/uptime-account.ts';
import { uptimeStore } from '../uptime/uptime-store.ts';
import type { SampleRow } from 'svc/contracts/metricsdb';
import { Pictures } from './pictures.ts';
import { runRound, type RoundParts } from './round.ts';
import { type Cause, isDown } from '../standing/cause.ts';
import { mutedRow, readingRows, verdictRows } from './series.ts';
import { Timetable } from './timetable.ts';
import { type Verdict, verdictOf, type Vote } from './verdict.ts';

export interface WatchParts extends RoundParts {
  readonly tables: Tables<CheckTables>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes samples; may refuse them. */
  readonly write: (rows: readonly SampleRow[]) => Promise<void>;
  /** Ends the series of a check. */
  readonly end: (name: string) => Promise<void>;
  /** Returns whether announced work covers the check now. */
  readonly isMaintained: (check: Check) => boolean;
  /** Returns the causes of those of these checks that stand on something that is down. */
  readonly causesOf: (checks: readonly Check[]) => Promise<ReadonlyMap<number, Cause>>;
  /** Returns what else is to be written of these checks as they are now. */
  readonly rowsBeside: (checks: readonly Check[], time: number) => readonly SampleRow[];
  /** Seconds that rounds begin late. */
  readonly delays: Histogram;
  /** Rounds that were due while the last one, or as many as run at once, were under way. */
  readonly leftOut: Counter;
  /** Ends with the plugin. */
  readonly signal: AbortSignal;
}

const maxRunning = 256;
/** Longest wait for the checks that a check depends on. */
const askMs = 30_000;
const maxWaitingRows = 50_000;
const hourMs = 3_600_000;
const keptMs = { hour: 8 * 24 * hourMs, day: 400 * 24 * hourMs } as const;

/** Runs all checks at their times, and keeps what they found. */
export class Watch {
  readonly #parts: WatchParts;
  readonly pictures: Pictures;
  readonly #timetable = new Timetable();
  readonly #account = new UptimeAccount();
  readonly #checks = new Map<number, Check>();
  readonly #votes = new Map<number, readonly Vote[]>();
  /** When the time of a check was last accounted for, by the clock that never jumps. */
  readonly #counted = new Map<number, number>();
  readonly #running = new Map<number, { readonly of: Check; readonly done: Promise<void> }>();
  /** Why the alerts of checks are held back. */
  #causes: ReadonlyMap<number, Cause> = new Map();
  #weighing: Promise<void> | undefined;
  #flushed: Promise<void> = Promise.resolve();
  #rows: SampleRow[] = [];
  #lost = 0;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.pictures = new Pictures(parts.tables);
  }

  get(name: string): Check | undefined {
    return [...this.#checks.values()].find((check) => check.name === name);
  }

  list(): readonly Check[] {
    return [...this.#checks.values()];
  }

  /** The last vote of each place. */
  votesOf({ id }: Pick<Check, 'id'>): readonly Vote[] {
    return this.#votes.get(id) ?? [];
  }

  /** Returns why the alert of a check is held back; undefined: it is not. */
  causeOf({ id }: Pick<Check, 'id'>): Cause | undefined {
    return this.#causes.get(id);
  }

  /**
   * Finds out anew what checks that are not up stand on. One whose cause has ended is probed before
   * its alert is let go, so that nobody is told of what has come back with its cause.
   */
  weigh(): Promise<void> {
    this.#weighing ??= this.#weigh().finally(() => (this.#weighing = undefined));
    return this.#weighing;
  }

  async #weigh(): Promise<void> {
    const before = this.#causes;
    const causes = await this.#causesNow();
    const freed = this.list().filter(({ id }) => before.has(id) && !causes.has(id));
    await Promise.all(
      freed
        .filter(({ paused, state }) => !paused && state !== 'up')
        .map((check) => this.run(check)),
    );
    // A check may have been probed, or another one held back, meanwhile.
    const isSame = freed.length === 0 && this.#causes === before;
    this.#causes = isSame ? causes : await this.#causesNow();
    this.#keepMuted(before);
  }

  /** Returns the causes of this moment; if they cannot be found out, nothing is held back. */
  async #causesNow(): Promise<ReadonlyMap<number, Cause>> {
    try {
      return await this.#parts.causesOf(
        this.list().filter((check) => isDown(check) || (check.state === 'stale' && !check.paused)),
      );
    } catch (error) {
      this.#parts.log.warn(
        { event: 'checks.causes_unknown', cause: messageOf(error) },
        'failed to find out what failing checks stand on; their alerts are not held back',
      );
      return new Map();
    }
  }

  #keepMuted(before: ReadonlyMap<number, Cause>): void {
    const now = this.#parts.clock.now();
    const rows = this.list()
      .filter(({ id, paused }) => !paused && (before.has(id) || this.#causes.has(id)))
      .map((check) => mutedRow(check, this.#causes.get(check.id), now));
    this.keep(rows);
  }

  /** Takes a check in as it is now. */
  put(check: Check): void {
    this.#count(check.id);
    this.#checks.set(check.id, check);
    const now = this.#parts.clock.monotonic();
    if (check.paused) {
      this.#timetable.remove(check.id);
      this.#counted.delete(check.id);
    } else {
      this.#timetable.put(check.id, check.definition.interval_s * 1_000, now);
    }
  }

  /** Ends the series of a check that is paused, so that no rule goes on firing. */
  async rest({ id, name }: Check): Promise<void> {
    await this.#running.get(id)?.done;
    await this.flushRows();
    await this.#parts.end(name);
  }

  async remove(check: Check): Promise<void> {
    this.#timetable.remove(check.id);
    this.#checks.delete(check.id);
    this.#votes.delete(check.id);
    this.pictures.forget(check);
    this.#counted.delete(check.id);
    await this.#running.get(check.id)?.done;
    await this.flushRows();
    await this.#parts.end(check.name);
  }

  /** Starts the rounds that are due. */
  tick(): void {
    const now = this.#parts.clock.monotonic();
    for (const { id, lateMs } of this.#timetable.due(now)) {
      const check = this.#checks.get(id);
      // The one before is bounded by its timeouts, and its result is newer than this one would be.
      if (check === undefined || this.#running.has(id) || this.#running.size >= maxRunning) {
        this.#parts.leftOut.add(1);
        continue;
      }
      this.#parts.delays.observe(lateMs / 1_000);
      void this.#start(check);
    }
  }

  /** Runs one round now; a call while one is under way waits for that, unless the check was another. */
  async run(check: Check): Promise<void> {
    const running = this.#running.get(check.id);
    await (running?.done ?? this.#start(check));
    if (running !== undefined && running.of.updatedAt !== check.updatedAt) {
      await this.run(check);
    }
  }

  /** Repeats all verdicts, so that a check with a long interval has a current one as well. */
  repeatVerdicts(): void {
    const now = this.#parts.clock.now();
    for (const check of this.#checks.values()) {
      this.keep(check.paused ? [] : verdictRows(check, now));
    }
    this.#keepMuted(this.#causes);
    this.keep(this.#parts.rowsBeside(this.list(), now));
  }

  /** Hands the samples over that have come together, in their order. */
  async flushRows(): Promise<void> {
    this.#flushed = this.#flushed.then(() => this.#writeRows());
    await this.#flushed;
  }

  async #writeRows(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    if (rows.length === 0) {
      return;
    }
    try {
      await this.#parts.write(rows);
      if (this.#lost > 0) {
        this.#parts.log.warn(
          { event: 'checks.samples_lost', samples: this.#lost },
          'metrics store accepts check samples again; some were lost',
        );
        this.#lost = 0;
      }
    } catch (error) {
      this.keep(rows);
      this.#parts.log.debug({ cause: messageOf(error) }, 'failed to write check samples');
    }
  }

  /** Writes down how long checks have been in which state. */
  async flushUptime(): Promise<void> {
    for (const id of this.#checks.keys()) {
      this.#count(id);
    }
    const rows = this.#account.take();
    const now = this.#parts.clock.now();
    try {
      await this.#parts.tables.write(async (tx) => {
        const store = uptimeStore(tx);
        await store.add(rows);
        await store.forget('hour', now - keptMs.hour);
        await store.forget('day', now - keptMs.day);
      });
    } catch (error) {
      this.#account.give(rows);
      throw error;
    }
  }

  #start(check: Check): Promise<void> {
    const done = this.#round(check)
      .catch((error: unknown) => {
        if (!this.#parts.signal.aborted) {
          this.#parts.log.warn(
            { event: 'checks.round_failed', check: check.name, cause: messageOf(error) },
            'check round failed; retrying after its interval',
          );
        }
      })
      .finally(() => this.#running.delete(check.id));
    this.#running.set(check.id, { of: check, done });
    return done;
  }

  async #round(check: Check): Promise<void> {
    const { places, signal, clock } = this.#parts;
    const { definition, secrets } = check;
    const sites = await places.sitesOf(definition.places);
    const found = await runRound(
      this.#parts,
      sites,
      { order: orderOf(definition, secrets), retries: definition.retries },
      signal,
    );
    const now = this.#checks.get(check.id);
    // Changed or deleted meanwhile: what was found is about another check.
    if (now === undefined || now.updatedAt !== check.updatedAt || now.paused) {
      return;
    }
    const votes = await this.pictures.keep(check, found);
    const verdict = verdictOf(definition, votes);
    this.#votes.set(check.id, votes);
    this.#count(check.id);
    this.keep(readingRows(check, votes));
    if (verdict.state === now.state) {
      this.#checks.set(check.id, { ...now, cause: verdict.cause });
      return;
    }
    if (verdict.state === 'down') {
      await this.#askBelow(check);
    }
    await this.#change(now, verdict);
    const changed = { ...now, state: verdict.state, since: clock.now() };
    if (verdict.state !== 'up') {
      await this.#hold(changed);
    }
    this.keep(verdictRows(changed, clock.now()));
    void this.weigh();
    this.keep(this.#parts.rowsBeside([changed], clock.now()));
  }

  /** Asks the checks below first: what fails with its gateway may be the first to notice. */
  async #askBelow({ definition }: Check): Promise<void> {
    const { pause, signal } = this.#parts;
    const below = this.list().filter(
      (one) => definition.depends_on.includes(one.name) && one.state !== 'down' && !one.paused,
    );
    if (below.length > 0) {
      const asked = below.map((check) => this.run(check));
      await Promise.race([Promise.all(asked), pause(askMs, signal)]);
    }
  }

  /** Holds the alert of a check back from its first sample on, if there is a cause. */
  async #hold(check: Check): Promise<void> {
    const cause = (await this.#causesNow()).get(check.id);
    if (cause !== undefined) {
      this.#causes = new Map([...this.#causes, [check.id, cause]]);
      this.keep([mutedRow(check, cause, this.#parts.clock.now())]);
    }
  }

  /** Writes a change down before it is shown. */
  async #change(check: Check, { state, cause, failing }: Verdict): Promise<void> {
    const at = Math.floor(this.#parts.clock.now());
    await this.#parts.tables.write(async (tx) => {
      const store = checkStore(tx);
      await store.update(check.id, { state, state_since: at, cause });
      await store.addChange({
        check_id: check.id,
        at,
        state,
        cause,
        places: JSON.stringify(failing),
      });
    });
    const now = this.#checks.get(check.id);
    if (now?.updatedAt === check.updatedAt) {
      this.#checks.set(check.id, { ...now, state, since: at, cause });
    }
  }

  /** Counts the time since the last call for the state that the check had. */
  #count(id: number): void {
    const { clock } = this.#parts;
    const check = this.#checks.get(id);
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    const from = this.#counted.get(id);
    if (check === undefined || check.paused) {
      return;
    }
    this.#counted.set(id, monotonic);
    if (from !== undefined) {
      // As long as it took, whatever the clock on the wall was set to meanwhile.
      const state = this.#parts.isMaintained(check) ? 'maintenance' : check.state;
      this.#account.add(id, state, now - (monotonic - from), now);
    }
  }

  /** Keeps samples to be written, as many as there is room for. */
  keep(rows: readonly SampleRow[]): void {
    const room = maxWaitingRows - this.#rows.length;
    this.#lost += Math.max(0, rows.length - room);
    this.#rows.push(...rows.slice(0, Math.max(0, room)));
  }
}
