import type { Generated, Kysely, Selectable } from 'kysely';

export interface EdgeTables {
  edge_edges: {
    id: Generated<number>;
    name: string;
    description: string;
    labels: string;
    access_key: string;
    enrolment_id: number | null;
    enrolled_machine: string | null;
    device_id: number | null;
    host_info: string | null;
    conflict_since: number | null;
    conflict_machines: string | null;
    only_machine: string | null;
    machine_key: string | null;
    takes_device: number | null;
    device_reason: string | null;
    created_by: string;
    created_at: number;
    updated_at: number;
  };
  edge_keys: {
    edge_id: number;
    generation: number;
    stored_key: string;
    server_key: string;
    dies_at: number | null;
    offer: string | null;
    created_at: number;
  };
  edge_presence: {
    edge_id: number;
    online: number;
    last_seen_at: number;
    last_registered_at: number;
    agent_version: string;
    machine_uuid: string;
  };
  edge_plugins: {
    edge_id: number;
    name: string;
    enabled: number;
    spec: string;
    updated_by: string;
    updated_at: number;
  };
  edge_plugin_health: { edge_id: number; name: string; health: string };
  edge_enrolments: {
    id: Generated<number>;
    name: string;
    token_hash: string;
    labels: string;
    device_id: number | null;
    max_uses: number;
    uses: number;
    expires_at: number;
    revoked_at: number | null;
    created_by: string;
    created_at: number;
  };
  edge_upgrades: {
    job_id: string;
    edge_id: number;
    state: string;
    url: string;
    sha256: string;
    signature: string | null;
    version: string | null;
    error: string | null;
    created_by: string;
    created_at: number;
    updated_at: number;
    ended_at: number | null;
  };
}

export type EdgeDb = Kysely<EdgeTables>;
export type EdgeRow = Selectable<EdgeTables['edge_edges']>;
export type KeyRow = Selectable<EdgeTables['edge_keys']>;
export type PresenceRow = Selectable<EdgeTables['edge_presence']>;
export type PluginRow = Selectable<EdgeTables['edge_plugins']>;
export type EnrolmentRow = Selectable<EdgeTables['edge_enrolments']>;
export type UpgradeRow = Selectable<EdgeTables['edge_upgrades']>;
