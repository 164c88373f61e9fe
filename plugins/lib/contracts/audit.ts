import { defineEvent, defineService } from 'svc/sdk';

/**
 * One row of the audit trail, as far as other plugins may build on it: who changed what, and which
 * fields, never their values.
 */
export interface AuditEntry {
  readonly seq: number;
  /** Milliseconds. */
  readonly at: number;
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly actor: { readonly type: string; readonly id: string; readonly name: string };
  /** Names of the fields whose value differs. */
  readonly fields: readonly string[];
}

/** Audit trail in order, for plugins that keep a cursor into it. */
export interface AuditEntries {
  /**
   * Returns successful changes after a number, oldest first; `last` is how far was read, including
   * rows that are not changes.
   */
  after(
    seq: number,
    limit: number,
  ): Promise<{ readonly entries: readonly AuditEntry[]; readonly last: number }>;
  /** Returns the number of the newest row; 0 if there is none. */
  last(): Promise<number>;
}

export const AuditEntries = defineService<AuditEntries>('audit.entries');

/** There are rows that were not there before. A hint to look, after their commit. */
export const AuditGrown = defineEvent<Record<never, never>>('audit.grown');
