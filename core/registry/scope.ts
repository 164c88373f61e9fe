import { AsyncResource } from 'node:async_hooks';

import {
  type Disposer,
  type EffectNode,
  type MaybePromise,
  messageOf,
  type Scope,
  withDeadline,
} from '../sdk/index.ts';
import { errors } from './errors.ts';

/**
 * Runner of code that the clock starts in a scope: pinned, on the owner's account, errors counted.
 */
export interface ScopeRunner {
  /** Short work with one view of the snapshot. */
  tick(label: string, work: () => MaybePromise<void>): Promise<void>;
  /** Work that lasts as long as the scope and follows every new snapshot. */
  task(label: string, work: () => Promise<void>): Promise<void>;
}

export interface UndoFailure {
  readonly label: string;
  readonly cause: string;
}

interface Effect {
  readonly label: string | (() => string);
  /** Default 5 s. */
  readonly undoMs?: number;
  readonly undo: () => MaybePromise<void>;
  readonly child?: OwnedScope;
}

const undoDeadlineMs = 5_000;
/**
 * Context of what the clock starts, which belongs to no request: it must not run in the context of
 * the one that set it.
 */
const apart = new AsyncResource('svc.scope');
/** One for all: every shot that has been fired ends with it, and an error costs its stack. */
const isOver = errors.timer_unset();
let pendingTimers = 0;
const gridMs = 50;
let occupants = 0;

/** Timers of all scopes that are set and have not fired, for the census. */
export const scopeTimers = (): number => pendingTimers;
/** Returns the number of unfinished tasks in scopes. */
export const scopeOccupants = (): number => occupants;

/** The labelled effects of one generation. */
export class OwnedScope implements Scope {
  readonly label: string;
  readonly #runner: ScopeRunner;
  readonly #abort = new AbortController();
  readonly #effects = new Set<Effect>();
  readonly #onArm: (() => void)[] = [];
  #armed = false;
  #closing: Promise<readonly UndoFailure[]> | undefined;

  constructor(label: string, runner: ScopeRunner) {
    this.label = label;
    this.#runner = runner;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  get size(): number {
    return this.#effects.size;
  }

  defer(label: string, undo: () => MaybePromise<void>): Disposer {
    this.assertOpen(label);
    const effect: Effect = { label, undo };
    this.#effects.add(effect);
    return () => (this.#effects.delete(effect) ? undo() : undefined);
  }

  occupy(
    label: () => string,
    { begin, end, endMs }: { begin: () => void; end: () => Promise<void>; endMs: number },
  ): Disposer {
    this.assertOpen(label());
    let begun = false;
    const undo = async (): Promise<void> => {
      await end();
      occupants -= begun ? 1 : 0;
    };
    const effect: Effect = { label, undo, undoMs: endMs };
    this.#effects.add(effect);
    this.#whenArmed(() => {
      begun = true;
      occupants += 1;
      begin();
    });
    return () => (this.#effects.delete(effect) ? undo() : undefined);
  }

  interval(label: string, ms: number, tick: (signal: AbortSignal) => MaybePromise<void>): Disposer {
    return this.#clocked(`every ${ms} ms: ${label}`, ms, tick, true);
  }

  timeout(label: string, ms: number, tick: (signal: AbortSignal) => MaybePromise<void>): Disposer {
    return this.#clocked(`after ${ms} ms: ${label}`, ms, tick, false);
  }

  task(label: string, work: (signal: AbortSignal) => Promise<void>): Disposer {
    // Not AbortSignal.any: Node keeps such a signal, and all that listens to it, for ever.
    const stop = new AbortController();
    const end = (): void => stop.abort(this.signal.reason);
    let running: Promise<void> | undefined;
    const undo = this.defer(`task: ${label}`, () => {
      this.signal.removeEventListener('abort', end);
      end();
      return running;
    });
    this.signal.addEventListener('abort', end);
    this.#whenArmed(() => {
      if (!stop.signal.aborted) {
        const over = (): void => void ((running = undefined), undo());
        running = apart
          .runInAsyncScope(() => this.#runner.task(label, () => work(stop.signal)))
          .finally(over);
      }
    });
    return undo;
  }

  child(label: string): OwnedScope {
    this.assertOpen(label);
    const child = new OwnedScope(label, this.#runner);
    const effect: Effect = {
      label,
      child,
      undo: async () => {
        const failures = await child.close();
        if (failures.length > 0) {
          throw new Error(
            failures.map((failure) => `${failure.label}: ${failure.cause}`).join('; '),
          );
        }
      },
    };
    this.#effects.add(effect);
    child.#forget = () => this.#effects.delete(effect);
    this.#whenArmed(() => child.arm());
    return child;
  }

  #forget: () => void = () => {};

  /** Commit has happened: timers and tasks begin. */
  arm(): void {
    if (this.#armed || this.closed) {
      return;
    }
    this.#armed = true;
    for (const begin of this.#onArm.splice(0)) {
      begin();
    }
  }

  /** Aborts the signal without undoing anything yet, so that streams can say good-bye. */
  announceEnd(reason: string): void {
    this.#abort.abort(errors.scope_ending({ scope: this.label, cause: reason }));
  }

  /** Undoes everything, last first, each with its own deadline; tells what could not be undone. */
  close(): Promise<readonly UndoFailure[]> {
    this.#closing ??= this.#undoAll();
    return this.#closing;
  }

  effects(): EffectNode {
    return {
      label: this.label,
      children: [...this.#effects].map(
        (effect) => effect.child?.effects() ?? { label: labelOf(effect), children: [] },
      ),
    };
  }

  assertOpen(what: string): void {
    if (this.closed) {
      throw errors.scope_closed({ scope: this.label, what });
    }
  }

  async #undoAll(): Promise<readonly UndoFailure[]> {
    this.#abort.abort(errors.scope_ended({ scope: this.label }));
    this.#onArm.length = 0;
    const failures: UndoFailure[] = [];
    for (const effect of [...this.#effects].reverse()) {
      if (!this.#effects.delete(effect)) {
        continue;
      }
      const cause = await undone(effect);
      if (cause !== undefined) {
        failures.push({ label: labelOf(effect), cause });
      }
    }
    this.#forget();
    return failures;
  }

  #whenArmed(begin: () => void): void {
    if (this.#armed) {
      begin();
    } else {
      this.#onArm.push(begin);
    }
  }

  /** A timer that never overlaps itself: the next wait starts when the tick has ended. */
  #clocked(
    label: string,
    ms: number,
    tick: (signal: AbortSignal) => MaybePromise<void>,
    repeat: boolean,
  ): Disposer {
    const stop = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let running: Promise<void> | undefined;
    let due: number | undefined;
    const unset = (): void => {
      if (timer) {
        clearTimeout(timer);
        timer = undefined;
        pendingTimers -= 1;
      }
    };
    const undo = this.defer(label, () => {
      stop.abort(isOver);
      unset();
      return running;
    });
    const wait = (): void => {
      const now = performance.now();
      // A fixed rate: the phase is kept however long a tick takes, and ticks due during a longer
      // one are skipped.
      due =
        due === undefined
          ? firstDue(now + ms, repeat)
          : due + ms * Math.max(1, Math.ceil((now - due) / ms));
      const delay = due - now;
      timer = apart.runInAsyncScope(() => setTimeout(fire, delay));
      timer.unref();
      pendingTimers += 1;
    };
    const fire = (): void => {
      unset();
      running = this.#runner
        .tick(label, () => tick(stop.signal))
        .finally(() => {
          running = undefined;
          if (stop.signal.aborted) {
            return;
          }
          if (repeat) {
            wait();
          } else {
            void undo();
          }
        });
    };
    this.#whenArmed(() => {
      if (!stop.signal.aborted) {
        wait();
      }
    });
    return undo;
  }
}

/** Repeating timers share wake-ups: an idle process wakes once for all that are due within a step of the grid. */
const firstDue = (due: number, repeat: boolean): number =>
  repeat ? Math.ceil(due / gridMs) * gridMs : due;

const labelOf = ({ label }: Effect): string => (typeof label === 'string' ? label : label());

/** The cause when an effect could not be undone within its deadline. */
async function undone({ undo, undoMs = undoDeadlineMs }: Effect): Promise<string | undefined> {
  const late = (): string => `did not end within ${undoMs} ms`;
  try {
    const outcome = undo();
    return outcome instanceof Promise
      ? await withDeadline<string | undefined>(
          outcome.then(() => undefined),
          undoMs,
          late,
        )
      : undefined;
  } catch (error) {
    return messageOf(error);
  }
}
