import { defineEvent, defineService } from 'svc/sdk';

/** One row of the trail, as far as other rooms may build on it: who changed what, and which fields, never their values. */
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

/** The trail in its order, for rooms that keep their place in it. */
export interface AuditEntries {
  /** Successful changes behind a number, oldest first; `last`: how far was read, also past rows that are none. */
  after(
    seq: number,
    limit: number,
  ): Promise<{ readonly entries: readonly AuditEntry[]; readonly last: number }>;
  /** Number of the newest row; 0 while there is none. */
  last(): Promise<number>;
}

export const AuditEntries = defineService<AuditEntries>('audit.entries');

/** There are rows that were not there before. A hint to look, after their commit. */
export const AuditGrown = defineEvent<Record<never, never>>('audit.grown');
