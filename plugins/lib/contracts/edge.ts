import type { OfferedSkill, PluginHealth, SkillAnswer, UpgradeState } from 'svc/edge-protocol';
import { defineEvent, defineService, type Principal } from 'svc/sdk';
import type { TunnelStream } from 'svc/tunnel';

/**
 * Capabilities of an edge, as the manager reads them: an edge of another version may have more, or
 * fewer.
 */
export interface EdgeCapabilities {
  readonly methods: readonly string[];
  readonly streams: readonly string[];
  /** True if the machine's owner allows shells. */
  readonly webshell: boolean;
}

export type EdgeStatus = 'pending' | 'online' | 'offline';

export interface EdgeEntry {
  readonly id: number;
  readonly name: string;
  readonly status: EdgeStatus;
  readonly agent_version: string | null;
  readonly device_id: number | null;
  /** Milliseconds since the epoch. */
  readonly last_seen_at: number | null;
}

export interface EdgeCall {
  /** Time limit of the whole call. */
  readonly timeoutMs: number;
  /**
   * Idempotency key for methods that make changes: the edge answers a known key with its earlier
   * answer.
   */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Every edge, from memory. */
export interface EdgeFleet {
  /** Ids of the edges whose tunnel is up at this moment. */
  online(): ReadonlySet<number>;
  /** Ids of those whose status is online: also of one whose tunnel was cut a moment ago, and of one that is awaited after a restart of svc. */
  present(): ReadonlySet<number>;
  get(edgeId: number): EdgeEntry | undefined;
  /** Returns edges sorted by id. */
  list(): readonly EdgeEntry[];
  /** Undefined while the edge is offline. */
  capabilities(edgeId: number): EdgeCapabilities | undefined;
  /** Offline, or without this method: unavailable at once. What the edge throws arrives as it was thrown. */
  call<R>(edgeId: number, method: string, params: unknown, options: EdgeCall): Promise<R>;
  /** A duplex of bytes with one of the edge's stream services; `forbidden` when its owner does not allow this one. */
  openStream(
    edgeId: number,
    service: string,
    meta: unknown,
    options?: { readonly timeoutMs?: number },
  ): Promise<TunnelStream>;
}

export const EdgeFleet = defineService<EdgeFleet>('edge.fleet');

export interface SkillRequest {
  /**
   * Principal of the call: safe skills require `device:read` or `skill:<key>`, those that make
   * changes `skill:*`.
   */
  readonly principal: Principal;
  /** Default 30 s; the edge may allow less. */
  readonly timeoutMs?: number;
  /** A change that is asked for again with the same key, by the same principal, is not made again. */
  readonly idempotencyKey?: string;
  /** The approval that two people have signed, without which nothing dangerous is run. */
  readonly approval?: string;
  readonly signal?: AbortSignal;
}

/** Skills that edges offer within what their owners allow. Every execution, refused ones too, is in the audit trail. */
export interface FleetSkills {
  list(edgeId: number, signal?: AbortSignal): Promise<readonly OfferedSkill[]>;
  /**
   * Returns the outcome of the skill, also if it failed or timed out; throws for an invalid or
   * forbidden call.
   */
  execute(
    edgeId: number,
    key: string,
    params: Readonly<Record<string, unknown>>,
    request: SkillRequest,
  ): Promise<SkillAnswer>;
}

export const FleetSkills = defineService<FleetSkills>('edge.skills');

// Events are facts, emitted after they are true.

export const EdgeOnline = defineEvent<{
  readonly edge_id: number;
  readonly agent_version: string;
  readonly first: boolean;
}>('edge.online');
/** Each time a tunnel serves, also after a break that was too short to count: what the edge can do may be another thing now. */
export const EdgeConnected = defineEvent<{ readonly edge_id: number }>('edge.connected');
/** 10 s after the tunnel closed, or when pings were missed: a short break does not count. */
export const EdgeOffline = defineEvent<{ readonly edge_id: number; readonly last_seen_at: number }>(
  'edge.offline',
);
/** Two machines use the keys of one edge (`since` a time), or a person has settled it (`null`). */
export const EdgeConflict = defineEvent<{
  readonly edge_id: number;
  readonly since: number | null;
  readonly machine_uuids: readonly string[];
}>('edge.conflict');
/** When the state of one of its plugins changes, not with each report. */
export const EdgePluginHealth = defineEvent<{
  readonly edge_id: number;
  readonly name: string;
  readonly health: PluginHealth;
}>('edge.plugin_health');
export const EdgeUpgrade = defineEvent<{
  readonly edge_id: number;
  readonly job_id: string;
  readonly state: UpgradeState;
  readonly error: string | null;
}>('edge.upgrade');
/**
 * Fired when an edge is created, changed or deleted in the tables, by this generation of the plugin
 * or by the last requests of the previous one.
 */
export const EdgeWritten = defineEvent<{ readonly edge_id: number }>('edge.written');
/** Deleted: its keys are dead and its tunnel is closed. */
export const EdgeRemoved = defineEvent<{ readonly edge_id: number }>('edge.removed');

/** Metrics collected on every host, under names that rules, snapshots and dashboards share. */
export const canonicalMetrics = [
  'node_cpu_usage_percent',
  'node_memory_used_percent',
  'node_filesystem_used_percent',
  'node_filesystem_avail_bytes',
  'node_load1',
  'node_load5',
  'node_load15',
  'node_network_receive_bytes_per_second',
  'node_network_transmit_bytes_per_second',
  'node_disk_io_utilization_percent',
  'node_swap_used_percent',
  'node_open_fds_percent',
  'node_uptime_seconds',
] as const;
