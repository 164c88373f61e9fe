import type { FrameType } from '../message/frames.ts';
import type { TunnelLimits } from '../message/limits.ts';
import type { SessionOptions, TunnelSession } from './contract.ts';

/** A session as its parts see it. */
export interface Wire {
  readonly session: TunnelSession;
  readonly options: SessionOptions;
  readonly limits: TunnelLimits;
  /** Name of the other end, for sentences. */
  readonly peer: string;
  readonly bufferedBytes: number;
  /** Returns the next id of this side; ids are never reused. */
  nextId(): number;
  send(type: FrameType, id: number, payload?: Uint8Array | string, flags?: number): void;
  sendCredit(id: number, bytes: number): void;
  /** Something ended; a session that is leaving may be idle now. */
  settled(): void;
  /** Ends the connection for what the other side did. */
  violated(error: unknown): void;
}
