import type { MatrixAnswer } from 'svc/contracts/metricsdb';

import { type AnswerFrame, answerRows } from '../instance/answer-rows.ts';
import type { Instance, Row } from '../instance/instance.ts';
import { movesOf } from '../instance/moves.ts';
import { errors } from './errors.ts';

/** Alert that would have fired: one incident from its first instance to its last. */
export interface PastFiring {
  readonly key: string;
  readonly at: number;
  clearedAt: number | null;
  readonly value: number | null;
}

/** Answers to all legs of a plan over some slots in a row, the times those of the slots. */
export interface Stretch {
  readonly slots: readonly number[];
  readonly answers: readonly MatrixAnswer[];
  /** Forecasts only: series that have already reached the bound; undefined for other legs. */
  readonly crossed: readonly (MatrixAnswer | undefined)[];
}

type Rows = ReadonlyMap<string, Row>;

const maxFirings = 10_000;

/** Takes a rule from slot to slot as the evaluator does, over answers of the past instead of the present. */
export class PreviewRun {
  readonly #frame: AnswerFrame;
  readonly #instances = new Map<string, Instance>();
  readonly #open = new Map<string, { readonly firing: PastFiring; members: number }>();
  readonly firings: PastFiring[] = [];
  fired = 0;
  unscoped = 0;
  leftOut = 0;
  lastFiredAt: number | undefined;

  constructor(frame: AnswerFrame) {
    this.#frame = frame;
  }

  walk({ slots, answers, crossed }: Stretch): void {
    const { legs } = this.#frame.plan;
    const cursors = [...answers, ...crossed].map(
      (answer) => new Int32Array(answer?.labels.length ?? 0),
    );
    const found = (answer: MatrixAnswer, slot: number, leg: number, cursor: number) =>
      answerRows(momentOf(answer, slot, cursors[cursor]!), this.#frame, legs[leg]!.threshold);
    for (const slot of slots) {
      const rows = answers.map((answer, leg) => found(answer, slot, leg, leg));
      this.unscoped = Math.max(this.unscoped, ...rows.map(({ unscoped }) => unscoped));
      this.#step(
        slot,
        rows.map((own, leg) =>
          crossed[leg] === undefined
            ? own.rows
            : this.#withCrossed(
                own.rows,
                found(crossed[leg], slot, leg, answers.length + leg).rows,
              ),
        ),
      );
    }
  }

  /**
   * Adds series that a forecast predicted and that have since reached the bound: they still fire.
   */
  #withCrossed(rows: Rows, crossed: Rows): Rows {
    const kept = [...crossed].filter(
      ([key]) => !rows.has(key) && this.#instances.get(key)?.phase === 'firing',
    );
    return kept.length === 0 ? rows : new Map([...rows, ...kept]);
  }

  #step(at: number, rows: readonly Rows[]): void {
    const { moves, leftOut } = movesOf(this.#instances, {
      plan: this.#frame.plan,
      at,
      slot: at,
      continuous: true,
      rows,
      holdMs: Infinity,
    });
    this.leftOut = Math.max(this.leftOut, leftOut);
    for (const { key, next, did } of moves) {
      if (next === undefined) {
        this.#instances.delete(key);
      } else {
        this.#instances.set(key, next);
      }
      if (did === 'fire') {
        this.#join(next!, at);
      }
    }
    // An incident that one instance joins as the last one leaves it goes on.
    moves.filter(({ did }) => did === 'clear').forEach(({ known }) => this.#leave(known!, at));
  }

  #join({ group, reading: { value } }: Instance, at: number): void {
    const open = this.#open.get(group);
    if (open !== undefined) {
      open.members += 1;
      return;
    }
    const firing: PastFiring = { key: group, at, clearedAt: null, value };
    this.#open.set(group, { firing, members: 1 });
    this.fired += 1;
    this.lastFiredAt = at;
    if (this.firings.length < maxFirings) {
      this.firings.push(firing);
    }
  }

  #leave({ group }: Instance, at: number): void {
    const open = this.#open.get(group)!;
    open.members -= 1;
    if (open.members === 0) {
      open.firing.clearedAt = at;
      this.#open.delete(group);
    }
  }
}

/** The series of a matrix that have a value at one of its times; times are asked for in their order. */
function momentOf(
  answer: MatrixAnswer,
  time: number,
  cursors: Int32Array,
): Parameters<typeof answerRows>[0] {
  const labels: MatrixAnswer['labels'][number][] = [];
  const values: number[] = [];
  answer.labels.forEach((one, series) => {
    const times = answer.times[series]!;
    while (cursors[series]! < times.length && times[cursors[series]!]! < time) {
      cursors[series]! += 1;
    }
    if (times[cursors[series]!] === time) {
      labels.push(one);
      values.push(answer.values[series]![cursors[series]!]!);
    }
  });
  return {
    type: 'vector',
    labels,
    values: Float64Array.from(values),
    times: new Float64Array(values.length).fill(time),
    warnings: [],
  };
}

/** Max values that one preview examines. */
export const maxValues = 2_000_000;

export function assertManageable(values: number): void {
  if (values > maxValues) {
    throw errors.too_many_values({ max: maxValues });
  }
}
