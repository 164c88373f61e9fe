import type { Generated, Kysely, Selectable } from 'kysely';

export interface WebshellTables {
  webshell_sessions: {
    id: Generated<number>;
    life: string;
    user_kind: string;
    user_id: number | null;
    device_id: number;
    edge_id: number;
    remote_user: string;
    auth: string;
    fingerprint: string;
    ip: string;
    started_at: number;
    ended_at: number | null;
    bytes_in: Generated<number>;
    bytes_out: Generated<number>;
    exit_code: number | null;
    ended_by: string | null;
    recording_state: string | null;
    recording_key: string | null;
    recording_bytes: number | null;
    recording_sha256: string | null;
    recording_ms: number | null;
  };
  webshell_host_keys: {
    device_id: number;
    algorithm: string;
    fingerprint: string;
    trusted_at: number;
    trusted_by: string;
    offered_algorithm: string | null;
    offered_fingerprint: string | null;
    offered_at: number | null;
  };
}

export type WebshellDb = Kysely<WebshellTables>;
export type SessionRow = Selectable<WebshellTables['webshell_sessions']>;
export type HostKeyRow = Selectable<WebshellTables['webshell_host_keys']>;
