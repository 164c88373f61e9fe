/** Tables of the host itself; `migrations/` makes them. Times are milliseconds since the epoch. */
export interface CoreTables {
  core_migrations: MigrationRow;
  core_outbox: OutboxRow;
  core_idempotency: IdempotencyRow;
  core_sealed_columns: SealedColumnRow;
  core_superseded_keys: { kid: string };
}

export interface MigrationRow {
  plugin: string;
  number: number;
  name: string;
  sha256: string;
  app_version: string;
  applied_at: number;
}

interface OutboxRow {
  id: string;
  topic: string;
  /** Messages of one key are delivered in order. */
  key: string | null;
  payload: string;
  enqueued_at: number;
  attempt: number;
  due_at: number;
  /** Time until which the message belongs to the delivery that took it. */
  lease_until: number | null;
  state: string;
  last_error: string | null;
}

export interface IdempotencyRow {
  key: string;
  principal: string;
  route: string;
  request_hash: string;
  /** Null while the first request with this key is still being answered. */
  status: number | null;
  headers: string | null;
  body: string | null;
  created_at: number;
}

interface SealedColumnRow {
  plugin: string;
  table_name: string;
  column_name: string;
  /** The columns that name a row, joined by `|`. */
  row_columns: string;
}
