/** Bounds of one session; both sides of a tunnel must agree on none of them but the size of a message. */
export interface TunnelLimits {
  /** JSON of one call, answer, event or opening. */
  readonly bodyBytes: number;
  readonly jsonDepth: number;
  /** Calls in flight, each way; more are answered unavailable. */
  readonly calls: number;
  /** Streams of both sides together. */
  readonly streams: number;
  /** Unread bytes of one stream. */
  readonly streamWindow: number;
  /** Unread bytes of all streams. */
  readonly sessionWindow: number;
  readonly eventsPerSecond: number;
  readonly eventBurst: number;
  /** Unsent bytes above which streams wait. */
  readonly dataBytes: number;
  /** Unsent bytes above which events are dropped. */
  readonly highBytes: number;
  /** Unsent bytes above which the connection is given up. */
  readonly maxBytes: number;
  /** Time for which unsent bytes may stay above `highBytes`. */
  readonly stalledMs: number;
  /** An edge pings this often, give or take a fifth. */
  readonly pingMs: number;
  /** Pings that may go unanswered, or not come. */
  readonly missedPings: number;
}

export const defaultTunnelLimits: TunnelLimits = {
  bodyBytes: 1024 * 1024 - 64,
  jsonDepth: 32,
  calls: 32,
  streams: 32,
  streamWindow: 256 * 1024,
  sessionWindow: 4 * 1024 * 1024,
  eventsPerSecond: 20,
  eventBurst: 200,
  dataBytes: 64 * 1024,
  highBytes: 1024 * 1024,
  maxBytes: 8 * 1024 * 1024,
  stalledMs: 15_000,
  pingMs: 20_000,
  missedPings: 3,
};

/** Largest message of the protocol, header included; what the WebSocket must allow. */
export const maxMessageBytes = 1024 * 1024;
/** Bytes of a stream that go out before the next one has its turn. */
export const quantumBytes = 16 * 1024;
/** No call may ask for more. */
export const longestCallMs = 3_600_000;

/** Default time for calls and streams to finish after a good-bye. */
export const usualGraceMs = 2_000;
/** Time for a connection to close before it is cut. */
export const closeMs = 2_000;
/** Last id. Ids are 32 bits and never reused; a connection that runs out of them is replaced. */
export const lastId = 0xffff_fff0;

export const tunnelPath = '/internal/tunnel';
export const tunnelProtocol = 'svc.tunnel.v1';

/** Why a connection was closed, in the range that RFC 6455 leaves to applications. */
export const closeCode = {
  normal: 1000,
  goingAway: 1001,
  /** Code that a side sees when its connection was lost. */
  lost: 1006,
  restart: 1012,
  protocol: 4400,
  unauthorized: 4401,
  /** A dead secret, a deleted edge. */
  revoked: 4403,
  /** The other side was silent, or read nothing. */
  silent: 4408,
  /** Another machine with this identity. */
  duplicate: 4409,
  /** Refused for now: the reply has the retry time. */
  unavailable: 4503,
} as const;
