import type { Step } from '../engine/engine.ts';
import type { Outcome } from '../engine/engine.ts';

/** Data that the writer's thread starts with. */
export interface WriterData {
  readonly file: string;
  readonly nativeBinding?: string | undefined;
}

export type Request =
  | { readonly kind: 'query'; readonly sql: string; readonly parameters: readonly unknown[] }
  /** Answered after the fsync. */
  | { readonly kind: 'commit' }
  /** Gives emptied pages and the log's space back to the disk, if asked for after a check of every page; only between groups. */
  | { readonly kind: 'trim'; readonly checked: boolean }
  /** Close, answered after the last checkpoint; the thread then ends. */
  | { readonly kind: 'close' };

export interface StepOrder {
  readonly step: Step;
  readonly depth: number;
}

/** The steps come first. They travel with the next request, because a message between threads costs more than what it asks for. */
export type ToWriter = { readonly steps: readonly StepOrder[] } & (
  | ({ readonly id: number } & Request)
  | { readonly id?: never }
);

export interface Failure {
  readonly message: string;
  readonly code: string | undefined;
  /** The group's transaction is gone: nothing of it can be committed any more. */
  readonly lost: boolean;
}

export type FromWriter =
  | { readonly id: number; readonly outcome: Outcome }
  | { readonly id: number; readonly failure: Failure };
