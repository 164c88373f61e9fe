import { createHash } from 'node:crypto';

import type { EdgeStatus } from 'svc/contracts/edge';
import type { BufferEvent, PluginHealth } from 'svc/edge-protocol';
import type { Cancel } from 'svc/tunnel';

import type { LiveKey } from './live-key.ts';
import type { Tunnel } from './tunnel.ts';

/** Desired state of one plugin of one edge, where it differs from the plugin's defaults. */
export interface Wish {
  readonly enabled: boolean;
  /** JSON. */
  readonly spec: string;
}

export interface Conflict {
  readonly since: number;
  readonly machines: readonly string[];
}

/** Machine that had the secret, but another key than the edge's machine, or none. */
export interface RefusedMachine {
  readonly at: number;
  readonly ip: string;
  readonly key: string | null;
  readonly reason: string;
}

/** One edge, as memory has it: there may be ten thousand, so nothing here grows with time. */
export interface EdgeRecord {
  readonly id: number;
  readonly accessKey: string;
  name: string;
  deviceId: number | null;
  agentVersion: string | null;
  /** Machine that it served from last. */
  machine: string | null;
  /** Boot id of that machine when it served; null if this process has not seen it. */
  bootId: string | null;
  lastSeenAt: number | null;
  lastRegisteredAt: number | null;
  /** State as others see it: still true for a moment after its tunnel has closed. */
  online: boolean;
  /** Takes back that it counts as offline soon. */
  cancelOffline: Cancel | undefined;
  conflict: Conflict | undefined;
  onlyMachine: string | null;
  /** Public half of the key of the machine that it belongs to. */
  machineKey: string | null;
  /** The device that its machine was given and does not watch yet. */
  takesDevice: number | null;
  /** Why it watches none. */
  deviceReason: string | null;
  /** A machine with its secret that is not its machine. */
  refused: RefusedMachine | undefined;
  /** Newest first, at most two. */
  keys: readonly LiveKey[];
  wishes: Map<string, Wish> | undefined;
  health: Map<string, PluginHealth> | undefined;
  /** Amount of its data that waits on its disk, or was lost there. */
  buffer: Required<BufferEvent> | undefined;
  /** Problem with the policy of its host. */
  policyProblem: string | undefined;
  /** Digest of the host info that is stored. */
  hostDigest: string | undefined;
  /** The tunnel that is up at this moment. */
  tunnel: Tunnel | undefined;
}

export const statusOf = ({ online, lastRegisteredAt }: EdgeRecord): EdgeStatus =>
  online ? 'online' : lastRegisteredAt === null ? 'pending' : 'offline';

/**
 * Returns a digest of the host info. Short, because one per edge is in memory; it only decides
 * whether to look closer.
 */
export const hostDigest = (json: string): string =>
  createHash('sha256').update(json).digest('base64').slice(0, 16);
