/** Why a socket is closed, as its client learns it; what came before an upgrade is plain HTTP. */
export const closeCode = {
  exit: 1000,
  badFrame: 4400,
  loginRefused: 4401,
  revoked: 4403,
  offline: 4404,
  idle: 4408,
  limit: 4409,
  killed: 4410,
  maxDuration: 4411,
  hostKeyChanged: 4412,
  recordFailure: 4500,
  lost: 4502,
} as const;

export const limits = {
  ticketMs: 30_000,
  ticketsPerUser: 20,
  tickets: 1_000,
  perUser: 5,
  perDevice: 5,
  total: 64,
  /** From the upgrade to the first frame. */
  openMs: 15_000,
  sshMs: 10_000,
  /** Of a warning before a shell ends for being idle. */
  warnMs: 2 * 60_000,
  maxMs: 8 * 3_600_000,
  recheckMs: 30_000,
  failedLogins: 5,
  failedLoginsMs: 60_000,
  /** A frame of the browser: keystrokes, a paste, or the first frame with a private key. */
  frameBytes: 64 * 1024,
  keyBytes: 32 * 1024,
  columns: { min: 2, max: 500 },
  rows: { min: 1, max: 300 },
  resizeMs: 50,
  outputMs: 8,
  outputBytes: 64 * 1024,
  /** A shell that has brought so much, and goes on faster than this, is read in turns with the others that do: a piece of up to 64 KiB each. */
  promptBytes: 64 * 1024,
  promptBytesPerSecond: 128 * 1024,
  turnMs: 8,
  /** So much longer at most when turns come late, because the machine is busy. */
  turnYieldMs: 32,
  /** Sent and not on its way yet, or shown to a browser that tells how far it has come: beyond, the shell has to wait. */
  unsentBytes: 256 * 1024,
  unacknowledgedBytes: 512 * 1024,
  /** For a browser to close its side when we have closed ours. */
  farewellMs: 1_000,
  /** Output that is not on disk yet: beyond, the shell has to wait. */
  unrecordedBytes: 1024 * 1024,
  recordBatchBytes: 256 * 1024,
} as const;

/** Why a shell has ended, as its row and the trail have it. */
export type Ending =
  | 'exit'
  | 'closed'
  | 'bad_frame'
  | 'idle'
  | 'max_duration'
  | 'killed'
  | 'revoked'
  | 'device_lost'
  | 'record_failure'
  | 'record_full'
  | 'manager_restart';

export const codeOf: Readonly<Record<Ending, number>> = {
  exit: closeCode.exit,
  closed: closeCode.exit,
  bad_frame: closeCode.badFrame,
  idle: closeCode.idle,
  max_duration: closeCode.maxDuration,
  killed: closeCode.killed,
  revoked: closeCode.revoked,
  device_lost: closeCode.lost,
  record_failure: closeCode.recordFailure,
  record_full: closeCode.recordFailure,
  manager_restart: 1001,
};
