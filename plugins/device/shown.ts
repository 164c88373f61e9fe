import type { DeviceDetails } from 'svc/contracts/device';
import type { EdgeFleet } from 'svc/contracts/edge';
import { timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import type { DeviceEdge, DeviceItem } from './schema.ts';
import type { DeviceRow, EdgeRow } from './store/tables.ts';

export type ShownDevice = Static<typeof DeviceItem>;
export type ShownEdge = Static<typeof DeviceEdge>;

/** State of a device that is not in its row. */
export interface Surroundings {
  readonly online: boolean;
  readonly lastSeenAt: number;
  readonly reportedBy: readonly string[];
  readonly details: DeviceDetails;
}

export const nameOf = ({ id, display_name: name, hostname }: DeviceRow): string =>
  name ?? hostname ?? `device ${id}`;
export const tagsOf = ({ tags }: DeviceRow): Record<string, string> =>
  JSON.parse(tags) as Record<string, string>;
export const rolesOf = ({ roles }: DeviceRow): string[] => JSON.parse(roles) as string[];

export function shownDevice(
  row: DeviceRow,
  { online, lastSeenAt, reportedBy, details }: Surroundings,
): ShownDevice {
  const {
    id,
    hostname,
    os,
    os_version,
    arch,
    kernel_version,
    ip_address,
    cpu_count,
    mem_total_bytes,
    disk_total_bytes,
  } = row;
  return {
    id,
    display_name: nameOf(row),
    hostname,
    os,
    os_version,
    arch,
    kernel_version,
    ip_address,
    cpu_count,
    mem_total_bytes,
    disk_total_bytes,
    tags: tagsOf(row),
    roles: rolesOf(row),
    online,
    last_seen_at: timestamp(lastSeenAt),
    reported_by: [...reportedBy],
    node_id: details.node_id ?? null,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
}

export function shownEdge(row: EdgeRow, fleet: Pick<EdgeFleet, 'get'>, openly = false): ShownEdge {
  const edge = fleet.get(row.edge_id);
  const disputed = row.rival_device_id !== null;
  return {
    id: row.edge_id,
    name: edge?.name ?? null,
    status: edge?.status ?? null,
    agent_version: edge?.agent_version ?? null,
    last_seen_at: instant(edge?.last_seen_at),
    binding: disputed ? 'conflict' : 'bound',
    reason: row.reason,
    machine_uuid: openly ? row.machine_uuid : null,
    machine_key: openly ? row.machine_key : null,
    bound_at: instant(row.bound_at),
    rival_edge_id: disputed ? row.rival_edge_id : null,
    rival_device_id: row.rival_device_id,
    rival_since: disputed ? instant(row.rival_since) : null,
  };
}

const instant = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : timestamp(at);
