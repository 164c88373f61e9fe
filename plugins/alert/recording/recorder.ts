import type { InstantAnswer, LabelRecord, MetricsIngest, SampleRow } from 'svc/contracts/metricsdb';
import { type Handle, messageOf } from 'svc/sdk';

import type { BackEnd } from '../queries/back-end.ts';
import { samplesOf } from '../queries/sample.ts';
import { phaseOf, slotAt } from '../queries/slots.ts';
import { labelKey } from '../rule/label-key.ts';
import { recorded, type Recording } from './recording.ts';

export interface RecorderParts {
  readonly backEnd: Pick<BackEnd, 'round'>;
  readonly store: Handle<Pick<MetricsIngest, 'write'>>;
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly intervalMs: () => number;
  /** Returns the delay until the samples of a slot are available. */
  readonly delayMs: () => number;
}

/** Outcome of the last evaluation of a recording rule. */
export interface RecordingState {
  readonly at: number;
  readonly series: number;
  readonly error: string | undefined;
}

interface Group {
  readonly recordings: readonly Recording[];
  slot: number;
  running: boolean;
}

const longestMs = 10_000;
/** Part of its interval that all queries of a group may take together. */
const waitingPart = 0.8;
const maxInWrite = 5_000;

/** Evaluates recording rules, the rules of a group in their order, and writes what they answer to the metrics store. */
export class Recorder {
  readonly #parts: RecorderParts;
  readonly #states = new Map<number, RecordingState>();
  /** Series that a rule wrote last; one that it no longer writes has ended. */
  readonly #written = new Map<number, ReadonlyMap<string, LabelRecord>>();
  readonly #running = new Set<Promise<void>>();
  #groups = new Map<string, Group>();
  #stopped = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  /** Loads all that there are, group by group in their order. */
  load(recordings: readonly Recording[]): void {
    const known = this.#groups;
    this.#groups = new Map();
    for (const [name, own] of groupsOf(recordings)) {
      this.#set(name, own, known.get(name));
    }
  }

  /** Loads one group, in the order of its rules; without an enabled one it is dropped. */
  loadGroup(name: string, recordings: readonly Recording[]): void {
    const own = groupsOf(recordings).get(name);
    const before = this.#groups.get(name);
    if (own === undefined) {
      this.#groups.delete(name);
    } else {
      this.#set(name, own, before);
    }
  }

  #set(name: string, recordings: readonly Recording[], before: Group | undefined): void {
    const intervalMs = this.#intervalOf(recordings);
    const slot = before?.slot ?? slotAt(this.#parts.now(), phaseOf(name, intervalMs), intervalMs);
    this.#groups.set(name, { recordings, slot, running: false });
  }

  stateOf(id: number): RecordingState | undefined {
    return this.#states.get(id);
  }

  /** Evaluates the groups whose slot has come. A group that is still at work leaves its slot out. */
  async tick(): Promise<void> {
    const now = this.#parts.now();
    const due = [...this.#groups].flatMap(([name, group]) => {
      const intervalMs = this.#intervalOf(group.recordings);
      const slot = slotAt(now, phaseOf(name, intervalMs), intervalMs);
      if (slot === group.slot || group.running || this.#stopped) {
        return [];
      }
      group.slot = slot;
      return [this.#evaluate(group, slot, intervalMs)];
    });
    due.forEach((work) => {
      this.#running.add(work);
      void work.finally(() => this.#running.delete(work));
    });
    await Promise.all(due);
  }

  /** Stops taking slots and waits for running evaluations. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  #intervalOf([first]: readonly Recording[]): number {
    return first!.interval_seconds > 0 ? first!.interval_seconds * 1_000 : this.#parts.intervalMs();
  }

  async #evaluate(group: Group, slot: number, intervalMs: number): Promise<void> {
    group.running = true;
    const { monotonic } = this.#parts;
    const until = monotonic() + intervalMs * waitingPart;
    try {
      for (const batch of batchesOf(group.recordings)) {
        await this.#evaluateBatch(batch, slot, Math.min(longestMs, until - monotonic()));
      }
    } finally {
      group.running = false;
    }
  }

  async #evaluateBatch(
    batch: readonly Recording[],
    slot: number,
    timeoutMs: number,
  ): Promise<void> {
    const { backEnd, delayMs } = this.#parts;
    const at = slot - delayMs();
    const answers = backEnd.round([...new Set(batch.map(({ expr }) => expr))], at, timeoutMs);
    const rows: SampleRow[] = [];
    for (const recording of batch) {
      const { answer } = await answers.get(recording.expr)!;
      rows.push(...this.#rowsOf(recording, answer, at));
    }
    try {
      await this.#write(rows);
    } catch (error) {
      batch.forEach(({ id }) =>
        this.#states.set(id, {
          at: slot,
          series: 0,
          error: `could not write its series: ${messageOf(error)}`,
        }),
      );
    }
  }

  #rowsOf(recording: Recording, answer: InstantAnswer | Error, at: number): readonly SampleRow[] {
    const { id, limit } = recording;
    try {
      if (answer instanceof Error) {
        throw answer;
      }
      const samples = recorded(recording, samplesOf(answer));
      if (limit > 0 && samples.length > limit) {
        throw new Error(`exceeded limit of ${limit} with ${samples.length} series`);
      }
      const written = new Map(samples.map(({ labels }) => [labelKey(labels), labels]));
      const ended = [...(this.#written.get(id) ?? [])].filter(([key]) => !written.has(key));
      this.#written.set(id, written);
      this.#states.set(id, { at, series: samples.length, error: undefined });
      return [
        ...samples.map(({ labels, value }) => ({ labels, value, time: at })),
        ...ended.map(([, labels]) => ({ labels, value: 0, time: at, stale: true })),
      ];
    } catch (error) {
      this.#states.set(id, { at, series: 0, error: messageOf(error) });
      return [];
    }
  }

  async #write(rows: readonly SampleRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += maxInWrite) {
      const { rejected, reasons } = await this.#parts.store
        .get()
        .write(rows.slice(from, from + maxInWrite));
      if (rejected > 0) {
        throw new Error(reasons.join('; '));
      }
    }
  }
}

function groupsOf(recordings: readonly Recording[]): ReadonlyMap<string, readonly Recording[]> {
  const groups = new Map<string, Recording[]>();
  for (const recording of recordings.filter(({ enabled }) => enabled)) {
    const own = groups.get(recording.group) ?? [];
    groups.set(recording.group, own);
    own.push(recording);
  }
  return groups;
}

/** Rules in a row that do not read what those before them write are asked together. */
function* batchesOf(recordings: readonly Recording[]): Generator<readonly Recording[]> {
  let batch: Recording[] = [];
  const written = new Set<string>();
  for (const recording of recordings) {
    const reads = recording.expr.match(/[A-Za-z_:][\w:]*/g) ?? [];
    if (reads.some((name) => written.has(name) || name === '__name__')) {
      yield batch;
      batch = [];
      written.clear();
    }
    batch.push(recording);
    written.add(recording.record);
  }
  yield batch;
}
