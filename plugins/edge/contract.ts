import type { canonicalMetrics } from 'svc/probe';
import { defineEvent, defineService, type Principal } from 'svc/sdk';
import type { TunnelStream } from 'svc/tunnel';
import type { Static } from 'typebox';

import type { Fleet, HostInfo } from '../device/contract.ts';
import type { SkillAnswer, ToldSkill } from '../edge-skills/contract.ts';
import type * as wire from './wire.ts';

// What crosses between manager and edge, as types; the schemas are in wire.ts, for this room and its tests.

/** `POST /internal/edge/enrol`: 201, or 401 when the token is spent, over, revoked or none. */
export type EnrolRequest = Static<typeof wire.EnrolRequest>;
export type EnrolAnswer = Static<typeof wire.EnrolAnswer>;

/** Methods that an edge serves: params and answer of each. Those that change something need an idempotency key. */
export interface EdgeMethods {
  readonly processes: { readonly params: Static<typeof wire.ProcessesParams>; readonly answer: Static<typeof wire.Processes> };
  readonly host_snapshot: { readonly params: Record<string, never>; readonly answer: HostSnapshot };
  readonly plugin_status: { readonly params: Record<string, never>; readonly answer: Static<typeof wire.PluginStatusAnswer> };
  /** Mutating. */
  readonly config_apply: { readonly params: Static<typeof wire.ConfigApply>; readonly answer: Static<typeof wire.ConfigApplied> };
  /** Mutating. */
  readonly rotate_secret: { readonly params: Static<typeof wire.RotateSecret>; readonly answer: Record<string, never> };
  /** Mutating. */
  readonly upgrade: { readonly params: UpgradeOrder; readonly answer: Record<string, never> };
}

/**
 * Params of the method `push` of the manager, which answers `{}` once all of it is on disk: what a request of the data plane would
 * bring, without a connection of its own. Errors are those of the route at `to`.
 */
export interface PushParams {
  readonly to: string;
  readonly type: string;
  readonly encoding?: string | undefined;
  /** Base64. */
  readonly body: string;
}

/** Events that an edge emits. */
export interface EdgeTells {
  /** One, or as many as are told at the same moment. */
  readonly plugin_health: Static<typeof wire.PluginHealthEvent> | readonly Static<typeof wire.PluginHealthEvent>[];
  /** After each connect, and when it changes. Only this binds the edge to a device. */
  readonly host_info: HostInfo & { readonly fingerprint?: string };
  readonly upgrade_state: Static<typeof wire.UpgradeStateEvent>;
  readonly buffer: Static<typeof wire.BufferEvent>;
}

export type HostSnapshot = Static<typeof wire.HostSnapshot>;
export type Process = Static<typeof wire.Process>;
export type PluginHealth = Static<typeof wire.PluginHealth>;
export type UpgradeOrder = Static<typeof wire.UpgradeOrder>;
export type UpgradeState = (typeof wire.upgradeStates)[number];
export type EdgePluginFile = Static<typeof wire.EdgePluginFile>;
export type CanonicalMetric = (typeof canonicalMetrics)[number];

/**
 * What an edge says of itself in HELLO: `agent_id` is the machine's UUID, `caps` are `call:<method>`, `stream:<service>` and, where the
 * owner allows it, `webshell`; `state` is this. `purpose: 'probe'` proves a secret and is closed at once.
 */
export interface EdgeHelloState {
  /** The last hash that `config_apply` brought; absent before the first. */
  readonly config_hash?: string;
}

/** What the welcome of the tunnel tells the edge. */
export interface EdgeWelcome {
  readonly edge_id: number;
  readonly name: string;
  readonly manager_version: string;
  /** Whether the method `push` may be called, at least until the next welcome. */
  readonly takes_pushes: boolean;
  /** Over how long all edges come back when this manager is lost without a word. */
  readonly spread_ms: number;
}

/** The same, as the manager reads it: an edge of another version may have more, or less. */
export interface EdgeCapabilities {
  readonly methods: readonly string[];
  readonly streams: readonly string[];
  /** Whether the machine's owner allows shells. */
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
  /** Of the whole call. */
  readonly timeoutMs: number;
  /** For methods that change something: a call with a key that the edge knows is answered as it was then. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Every edge, from memory. Extends what devices need of it. */
export interface EdgeFleet extends Fleet {
  get(edgeId: number): EdgeEntry | undefined;
  /** In the order of their ids. */
  list(): readonly EdgeEntry[];
  /** Undefined while the edge is offline. */
  capabilities(edgeId: number): EdgeCapabilities | undefined;
  /** Offline, or without this method: unavailable at once. What the edge throws arrives as it was thrown. */
  call<R>(edgeId: number, method: string, params: unknown, options: EdgeCall): Promise<R>;
  /** A duplex of bytes with one of the edge's stream services; `forbidden` when its owner does not allow this one. */
  openStream(edgeId: number, service: string, meta: unknown, options?: { readonly timeoutMs?: number }): Promise<TunnelStream>;
}

export const EdgeFleet = defineService<EdgeFleet>('edge.fleet');

export interface SkillRequest {
  /** In whose name: what is safe takes `device:read` or `skill:<key>`, what changes something `skill:*`. */
  readonly principal: Principal;
  /** Default 30 s; the edge may allow less. */
  readonly timeoutMs?: number;
  /** A change that is asked for again with the same key, by the same principal, is not made again. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Skills that edges offer within what their owners allow. Every execution, refused ones too, is in the audit trail. */
export interface FleetSkills {
  list(edgeId: number, signal?: AbortSignal): Promise<readonly ToldSkill[]>;
  /** What the skill came to, also when it failed or took too long; what was asked wrongly, or is not allowed, is thrown. */
  execute(edgeId: number, key: string, params: Readonly<Record<string, unknown>>, request: SkillRequest): Promise<SkillAnswer>;
}

export const FleetSkills = defineService<FleetSkills>('edge.skills');

// Events are facts, told after they are true.

export const EdgeOnline = defineEvent<{ readonly edge_id: number; readonly agent_version: string; readonly first: boolean }>('edge.online');
/** 10 s after the tunnel closed, or when pings were missed: a short break is not told. */
export const EdgeOffline = defineEvent<{ readonly edge_id: number; readonly last_seen_at: number }>('edge.offline');
/** Two machines use the keys of one edge (`since` a time), or a person has settled it (`null`). */
export const EdgeConflict = defineEvent<{ readonly edge_id: number; readonly since: number | null; readonly machine_uuids: readonly string[] }>(
  'edge.conflict',
);
/** When the state of one of its plugins changes, not with each report. */
export const EdgePluginHealth = defineEvent<{ readonly edge_id: number; readonly name: string; readonly health: PluginHealth }>('edge.plugin_health');
export const EdgeUpgrade = defineEvent<{ readonly edge_id: number; readonly job_id: string; readonly state: UpgradeState; readonly error: string | null }>(
  'edge.upgrade',
);
/** Made, changed or deleted in the tables: by this generation of the room, or by the last requests of the one before it. */
export const EdgeWritten = defineEvent<{ readonly edge_id: number }>('edge.written');
/** Deleted: its keys are dead and its tunnel is closed. */
export const EdgeRemoved = defineEvent<{ readonly edge_id: number }>('edge.removed');
