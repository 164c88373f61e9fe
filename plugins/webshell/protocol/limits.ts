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
  /** The same person shows this shell in another browser. */
  takenOver: 4413,
  recordFailure: 4500,
  lost: 4502,
} as const;

/**
 * Close codes of a browser that no longer needs its shell: RFC 6455's normal closure, and one
 * without a code.
 */
export const wantedCodes: readonly number[] = [1000, 1005];
/** Code of a socket that was lost without a close from the other side. */
export const lostCode = 1006;

export const limits = {
  ticketMs: 30_000,
  ticketsPerUser: 20,
  tickets: 1_000,
  perUser: 5,
  perDevice: 5,
  total: 64,
  /** Time from the upgrade to the first frame. */
  openMs: 15_000,
  sshMs: 10_000,
  /**
   * Time that a shell waits for a lost browser, and below, how much output is kept for its return.
   */
  detachedMs: 60_000,
  replayBytes: 256 * 1024,
  /** Max ended shells kept to report their end. */
  awaited: 64,
  /** Warning time before an idle shell ends. */
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
  /** Max size of an echo or a prompt, which is not delayed. */
  echoBytes: 1024,
  /** Output beyond which a shell that continues faster than this is read in turns with others. */
  promptBytes: 64 * 1024,
  promptBytesPerSecond: 128 * 1024,
  turnMs: 1,
  turnBytes: 64 * 1024,
  /**
   * Interval while somebody types, and for a while after: more than anybody reads, and no more work
   * at a time than an echo can wait for. What the others bring is garbage a moment later, and each
   * collection of it takes as long as several echoes.
   */
  typedTurnMs: 32,
  typedTurnBytes: 16 * 1024,
  typedMs: 1_000,
  /** Max time to the next turn, if turns are late because the machine is busy. */
  longestTurnMs: 64,
  /** Unsent bytes beyond which the shell has to wait. */
  unsentBytes: 256 * 1024,
  /**
   * Unacknowledged bytes above which a shell waits. Less than is kept: such a browser misses
   * nothing when it reconnects.
   */
  unacknowledgedBytes: 192 * 1024,
  /** Typed or pasted. */
  inputBytes: 64 * 1024,
  inputBytesPerSecond: 64 * 1024,
  /** Time for a browser to close its side once we have closed ours. */
  closeMs: 1_000,
  /** Output that is not on disk yet: beyond, the shell has to wait. */
  unrecordedBytes: 1024 * 1024,
  recordBatchBytes: 256 * 1024,
  /**
   * Time from display to writing to the disk: what a kill of this process loses of a recording,
   * besides the write in progress.
   */
  recordMs: 40,
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
