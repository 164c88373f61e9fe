import { AsyncLocalStorage } from 'node:async_hooks';

import type { AuditTrailContract, SvcError } from '../sdk/index.ts';
import type { Writer } from './engine/engine.ts';
import { errors } from './errors.ts';
import type { Outcome } from './engine/engine.ts';

/** Accompanies the outermost writes of some work. */
export interface Witness {
  /** Adds rows to the write that has just done its work; the transaction may touch every table. */
  beforeCommit(tx: Parameters<AuditTrailContract['append']>[0]): Promise<void>;
  /** A write that was witnessed is not on disk after all: its group could not be committed. */
  undone?(): void;
}

/** Surroundings of the running code. */
export interface Surroundings {
  /** The write that a further write joins. */
  readonly unit?: Unit;
  /** Witness that has the last word in every outermost write. */
  readonly witness?: Witness;
  /** Frees space, hence is let through when the disk is nearly full. */
  readonly reclaiming?: boolean;
}

export const surroundings = new AsyncLocalStorage<Surroundings>();

/**
 * One piece of work with exclusive use of the writer, inside a savepoint of its own. A unit within a unit is a savepoint within the
 * savepoint; while it runs, statements of the outer one wait, because undoing the inner one would take them along.
 */
export class Unit {
  readonly #writer: Writer;
  readonly #parent: Unit | undefined;
  readonly #patient: boolean;
  readonly #depth: number;
  #child: { readonly unit: Unit; readonly done: Promise<unknown> } | undefined;
  #ended: (() => SvcError) | undefined;

  constructor(
    writer: Writer,
    options: { readonly parent?: Unit; readonly patient?: boolean } = {},
  ) {
    this.#writer = writer;
    this.#parent = options.parent;
    this.#patient = options.patient ?? false;
    this.#depth = options.parent === undefined ? 0 : options.parent.#depth + 1;
  }

  get open(): boolean {
    return this.#refusal() === undefined;
  }

  async query(sql: string, parameters: readonly unknown[]): Promise<Outcome> {
    for (let ahead = this.#inTheWay(); ahead !== undefined; ahead = this.#inTheWay()) {
      await ahead;
    }
    this.#assertOpen();
    return this.#writer.query(sql, parameters, this.#patient);
  }

  /** Runs `work` in a savepoint inside this unit; what it throws undoes its own statements only. */
  async nest<R>(work: (unit: Unit) => Promise<R>): Promise<R> {
    for (let ahead = this.#inTheWay(); ahead !== undefined; ahead = this.#inTheWay()) {
      await ahead;
    }
    this.#assertOpen();
    const unit = new Unit(this.#writer, { parent: this, patient: this.#patient });
    const running = unit.run(work);
    const done = running.then(noop, noop);
    this.#child = { unit, done };
    try {
      return await running;
    } finally {
      this.#child = undefined;
    }
  }

  /** Runs `work` as this unit: kept when it succeeds, undone when it throws. */
  async run<R>(work: (unit: Unit) => Promise<R>): Promise<R> {
    this.#writer.step('save', this.#depth);
    try {
      const result = await surroundings.run({ ...surroundings.getStore(), unit: this }, () =>
        work(this),
      );
      while (this.#child !== undefined) {
        await this.#child.done;
      }
      this.#assertOpen();
      this.#writer.step('release', this.#depth);
      return result;
    } catch (error) {
      if (this.open) {
        this.#writer.step('undo', this.#depth);
      }
      throw error;
    } finally {
      this.#ended ??= errors.unit_ended;
    }
  }

  /** Undoes a unit from outside; whatever it still tries is refused. */
  abandon(error: () => SvcError): void {
    if (this.#ended === undefined) {
      this.#ended = error;
      this.#writer.step('undo', this.#depth);
    }
  }

  #refusal(): (() => SvcError) | undefined {
    return this.#ended ?? (this.#parent === undefined ? undefined : this.#parent.#refusal());
  }

  #assertOpen(): void {
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      throw refusal();
    }
  }

  /**
   * Returns what a caller outside the inner unit has to wait for. Nothing may be awaited between
   * its last answer and the act.
   */
  #inTheWay(): Promise<unknown> | undefined {
    return this.#child === undefined || isInside(this.#child.unit) ? undefined : this.#child.done;
  }

  static holds(unit: Unit, ancestor: Unit): boolean {
    return unit === ancestor || (unit.#parent !== undefined && Unit.holds(unit.#parent, ancestor));
  }
}

function isInside(unit: Unit): boolean {
  const current = surroundings.getStore()?.unit;
  return current !== undefined && Unit.holds(current, unit);
}

function noop(): void {}
