import type { Clock, Ids, Logger } from 'svc/sdk';
import type { IdempotencyJournal, Sweeper, TunnelHandlers, TunnelSession } from 'svc/tunnel';
import type { Asked } from './answers.ts';
import type { DataPlane } from './data-plane.ts';
import type { KeyFile } from './keys.ts';
import type { SimOptions } from './options.ts';
import type { Tally } from './tally.ts';

/** State that all simulated edges of a process share. */
export interface Shared {
  readonly options: SimOptions;
  /** Agent version that hosts report. */
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly tally: Tally;
  readonly keys: KeyFile;
  readonly plane: DataPlane;
  readonly sweeper: Sweeper;
  readonly handlers: TunnelHandlers;
  readonly journal: IdempotencyJournal;
  readonly sessions: Map<TunnelSession, Asked>;
  /** Aborts when the fleet is to end. */
  readonly signal: AbortSignal;
  readonly enrolling: { run<T>(work: () => Promise<T>): Promise<T> };
  /**
   * Resolves after so many milliseconds, and immediately when the fleet ends or `signal` aborts.
   */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns the local address a host dials from; undefined leaves it to the system. */
  addressOf(number: number): string | undefined;
  /** Throws TokenRefused if there is no token, or the manager refused it from another host. */
  demandToken(): void;
  refuseToken(reason: string): void;
}
