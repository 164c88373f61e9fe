/**
 * Outcome of a command, repeated to anyone who asks with the same key; an error is stored as it
 * crosses the tunnel.
 */
export type Outcome =
  | { readonly result: unknown }
  | { readonly error: Readonly<Record<string, unknown>> };

/** Remembers commands by their key, so that a retry after a lost connection does not run them twice. */
export interface IdempotencyJournal {
  /**
   * Runs `work` unless this key has run before; then returns the earlier outcome, waits for it if
   * it still runs, or reports that it was interrupted. Resolves after the outcome is on disk.
   * `fingerprint` distinguishes commands.
   */
  run(key: string, fingerprint: string, work: () => Promise<Outcome>): Promise<Outcome>;
  /** Closes the journal once running commands have ended. */
  close(): Promise<void>;
}
