import type { Generated, Kysely, Selectable } from 'kysely';

export interface DeviceTables {
  device_devices: {
    id: Generated<number>;
    machine_uuid: string | null;
    machine_key: string | null;
    fingerprint: string | null;
    display_name: string | null;
    hostname: string | null;
    os: string | null;
    os_version: string | null;
    arch: string | null;
    kernel_version: string | null;
    ip_address: string | null;
    cpu_count: number | null;
    mem_total_bytes: number | null;
    disk_total_bytes: number | null;
    tags: Generated<string>;
    roles: Generated<string>;
    last_seen_at: number;
    created_at: number;
    updated_at: number;
  };
  device_tags: { device_id: number; key: string; value: string };
  device_roles: { device_id: number; role: string };
  device_edges: {
    edge_id: number;
    device_id: number | null;
    machine_uuid: string;
    machine_key: string | null;
    bound_at: number | null;
    rival_edge_id: number | null;
    rival_device_id: number | null;
    rival_since: number | null;
    reason: string | null;
  };
  device_reported_hosts: {
    source: string;
    host: string;
    device_id: number;
    last_seen_at: number;
  };
  device_saved_views: {
    id: Generated<number>;
    owner: string;
    name: string;
    query: string;
    updated_at: number;
  };
}

export type DeviceDb = Kysely<DeviceTables>;
export type DeviceRow = Selectable<DeviceTables['device_devices']>;
export type SavedViewRow = Selectable<DeviceTables['device_saved_views']>;
export type EdgeRow = Selectable<DeviceTables['device_edges']>;
export type ReportedHostRow = Selectable<DeviceTables['device_reported_hosts']>;
