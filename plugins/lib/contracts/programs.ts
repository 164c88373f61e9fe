import type { Readable, Writable } from 'node:stream';

import { defineService, type MaybePromise, type PluginContext } from 'svc/sdk';

/** Owner of a program: the context of the plugin that wants it. */
export type ProgramOwner = Pick<PluginContext, 'id' | 'dataDir' | 'log' | 'scope'>;

export interface ProgramOptions {
  /**
   * Arguments, which no shell reads. `port` is a free one on the loopback interface, a new one at
   * each start.
   */
  readonly args: (given: { readonly port: number }) => readonly string[];
  /** All of its environment; nothing of the service's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Polled until it returns true; default: a running process is ready. */
  readonly ready?: (given: { readonly port: number }, signal: AbortSignal) => MaybePromise<boolean>;
  /** Takes what it prints instead of the log; it prints no further until that has resolved. Throwing ends it, to be started again. */
  readonly output?: (chunk: Uint8Array) => MaybePromise<void>;
  /** Time limit to become ready, after which it is restarted; default 60 s. */
  readonly startMs?: number;
  /** Time limit to exit when asked to, after which it is killed; default 10 s. */
  readonly stopMs?: number;
}

export interface ProgramHandle {
  readonly state: 'waiting' | 'starting' | 'running' | 'backing-off' | 'stopped';
  readonly pid: number | undefined;
  readonly port: number | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number | undefined;
  /** Why it ended last, as long as it is not running again. */
  readonly cause: string | undefined;
  /** Resolves once it is ready; rejects with unavailable when that takes longer, or when it was stopped. */
  ready(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  /** Asks it to end, kills it when it does not, and resolves once it is gone. */
  stop(): Promise<void>;
}

/** A program that is run once, for what it prints. */
export interface RunOptions {
  /** All of its environment; nothing of the service's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Time limit, after which it is killed, with its child processes. */
  readonly timeoutMs: number;
  /** Standard input; default: none. */
  readonly input?: Uint8Array;
  /** Max output; a process that prints more is killed. */
  readonly maxBytes: number;
  /**
   * Called once it runs, to speak with it over two more pipes: it reads file descriptor 3 and writes 4. What comes there
   * counts as no output.
   */
  readonly converse?: (to: Writable, from: Readable) => void;
  readonly signal?: AbortSignal;
}

export interface RunResult {
  /** Null when a signal has ended it. */
  readonly code: number | null;
  readonly output: Uint8Array;
  /** The beginning of what it printed as errors. */
  readonly errors: string;
  /** Reason why it was killed before it exited. */
  readonly cut: 'time' | 'size' | undefined;
}

/** Programs of the machine that plugins run; each belongs to the scope of its owner. */
export interface ForeignPrograms {
  /**
   * Returns the absolute path of an executable, given its name on the PATH of the service or its
   * path; undefined if there is none.
   */
  find(name: string): string | undefined;
  /**
   * Runs the executable at the absolute path `file` in the owner's data folder, from commit on: one of its name at a time,
   * restarted with back-off, its output in the owner's log unless it is taken, killed with the scope and, when the service
   * was killed itself, at its next start. It is stopped for good when this service leaves without a successor.
   */
  start(owner: ProgramOwner, name: string, file: string, options: ProgramOptions): ProgramHandle;
  /** Runs the executable at the absolute path `file` once; no shell reads `args`. Rejects with unavailable when it cannot be started, or is ended with the scope or by `signal`. */
  run(
    owner: ProgramOwner,
    file: string,
    args: readonly string[],
    options: RunOptions,
  ): Promise<RunResult>;
}

export const Programs = defineService<ForeignPrograms>('programs.runner');
