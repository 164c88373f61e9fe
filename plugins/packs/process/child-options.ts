import type { Clock, Logger, RestartPolicy } from 'svc/sdk';

import type { CauseKind } from './causes.ts';
import type { Hold } from './confinement.ts';
import { errors } from './errors.ts';
import type { CallOptions } from './open-call.ts';
import type { ChildOrigin } from './program-file.ts';
import type { Described } from '../wire/wire.ts';

export type ChildState = 'asleep' | 'starting' | 'running' | 'backing-off' | 'failed' | 'stopped';

export interface StartOptions {
  /** Names the child in logs and errors. */
  readonly label: string;
  /** CommonJS text whose default export is a `PackDefinition`. */
  readonly code: string;
  /** Name of that text in stacks and for `require`. */
  readonly filename: string;
  readonly origin: ChildOrigin;
  /** Allows it to open connections; default false. */
  readonly network?: boolean;
  /** What its code must answer; default: whatever it is asked. */
  readonly described?: Described | undefined;
  /** Settings as they are now; default none. */
  readonly settings?: () => Readonly<Record<string, unknown>>;
  /**
   * Returns whether a new process starts immediately, or waits for `start` to be called; default
   * true.
   */
  readonly startsAtOnce?: () => boolean;
  /**
   * True if there is no process before the first call: this code has started before, and has no
   * work of its own.
   */
  readonly startsAsleep?: boolean;
  /** Idle time after which a process without work of its own ends, until the next call. */
  readonly idleMs?: number;
  /** Answers the pack's requests to svc; default: nothing is answered. */
  readonly serve?: (method: string, input: unknown) => Promise<unknown>;
  /** Folders that the child may read; nothing else, and writing never. */
  readonly read?: readonly string[];
  /** The whole environment of the child. */
  readonly env?: Readonly<Record<string, string>>;
  /** Confinement by the operating system; default: none. */
  readonly hold?: Pick<Hold, 'confinement' | 'user'>;
  readonly heapMb?: number;
  readonly rssMb?: number;
  /** Deadline of a call that names none. */
  readonly callMs?: number;
  readonly startMs?: number;
  readonly maxCalls?: number;
  readonly maxPayloadBytes?: number;
  readonly pingMs?: number;
  readonly pollMs?: number;
  /** Between the request to end and the end by force. */
  readonly graceMs?: number;
  readonly restart?: Partial<RestartPolicy>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onState?: (state: ChildState, cause: string | undefined) => void;
  /** A process is up; a resident one has work of its own. */
  readonly onUp?: (isResident: boolean) => void;
}

/** The process of a pack, supervised: limits, a deadline for each call, restarts with back-off. */
export interface Child {
  readonly state: ChildState;
  /** Why it is backing off, failed or stopped. */
  readonly cause: string | undefined;
  /** The same in one word. */
  readonly causeKind: CauseKind | undefined;
  readonly pid: number | undefined;
  /** Number of restarts. */
  readonly restarts: number;
  /** The first process has loaded and started its code, or rejects with the reason it could not. */
  readonly ready: Promise<void>;
  call(method: string, input: unknown, options?: Partial<CallOptions>): Promise<unknown>;
  /** A setting has changed. */
  tell(key: string, value: unknown): void;
  /** Resolves once no process is left. */
  stop(): Promise<void>;
}

type Defaulted =
  | 'read'
  | 'network'
  | 'settings'
  | 'startsAtOnce'
  | 'startsAsleep'
  | 'idleMs'
  | 'serve'
  | 'env'
  | 'hold'
  | 'heapMb'
  | 'rssMb'
  | 'callMs'
  | 'startMs'
  | 'maxCalls'
  | 'maxPayloadBytes'
  | 'pingMs'
  | 'pollMs'
  | 'graceMs';

export const defaults: Required<Pick<StartOptions, Defaulted>> = {
  read: [],
  network: false,
  settings: () => ({}),
  startsAtOnce: () => true,
  startsAsleep: false,
  idleMs: 5 * 60_000,
  serve: (method) => Promise.reject(errors.no_question({ method })),
  env: {},
  hold: { confinement: 'none', user: undefined },
  heapMb: 64,
  rssMb: 256,
  callMs: 10_000,
  startMs: 30_000,
  maxCalls: 64,
  maxPayloadBytes: 1024 * 1024,
  pingMs: 5_000,
  pollMs: 500,
  graceMs: 2_000,
};
