import type { GeneratedAlways } from 'kysely';

/** Row of the trail as stored; the hash covers exactly these bytes. */
export interface Row {
  readonly seq: number;
  readonly key_id: number;
  readonly record: string;
  readonly prev_hash: string;
  readonly hash: string;
}

/** State of the last row at a moment. */
export interface Checkpoint {
  readonly seq: number;
  readonly hash: string;
  readonly at: number;
  readonly key_id: number;
  readonly signature: string;
}

/** Anchor that replaces archived and removed rows. */
export interface Anchor {
  readonly from_seq: number;
  readonly to_seq: number;
  readonly count: number;
  readonly last_hash: string;
  readonly at: number;
  readonly key_id: number;
  readonly signature: string;
}

export interface KeyRow {
  readonly id: number;
  readonly chain_key: string;
  readonly signing_key: string;
  readonly created_at: number;
}

/** Columns that SQLite reads out of the record. */
interface ReadOut {
  occurred_at: GeneratedAlways<number>;
  actor: GeneratedAlways<string>;
  actor_email: GeneratedAlways<string | null>;
  action: GeneratedAlways<string>;
  resource_type: GeneratedAlways<string>;
  resource_id: GeneratedAlways<string | null>;
  status: GeneratedAlways<string>;
}

/** Last row that a sink has acknowledged. */
export interface Shipped {
  readonly place: string;
  readonly seq: number;
  readonly hash: string;
  readonly at: number;
}

export interface AuditTables {
  audit_log: Row & ReadOut;
  audit_checkpoints: Checkpoint;
  audit_anchors: Anchor;
  audit_keys: KeyRow;
  audit_sinks: Shipped;
}
