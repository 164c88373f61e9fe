import type { Random } from 'svc/seeded';

import type { World } from './world.ts';

/** Effects on one component at one step; a healthy one has the neutral values. */
export interface Pressure {
  /** Multiplies its own work for a request. */
  slow: number;
  /** Share of requests that it fails by itself. */
  fail: number;
  /** Share of connections that are refused: its process is not there, or nobody trusts it. */
  refuse: number;
  /** True if its process is gone. */
  gone: boolean;
  cpu: number;
  /** Bytes beyond the usual, in each instance. */
  memory: number;
  /** Share of the time in which its container is held back. */
  throttle: number;
  /** Sessions that wait for a lock. */
  locks: number;
  /** Connections of its pool that nobody gives back. */
  held: number;
  /** Share of what it reads from caches that is not there; 0 is the usual. */
  misses: number;
  /** Share of its messages that it still consumes. */
  consumes: number;
  /** Process starts at this step. */
  restart: boolean;
}

export interface HostPressure {
  cpu: number;
  disk: number;
  /** Multiplies the time of a write. */
  diskSlow: number;
  retransmits: number;
}

export interface CallPressure {
  loss: number;
  /** Seconds beyond the usual. */
  late: number;
}

export interface Pressures {
  readonly components: readonly Pressure[];
  readonly hosts: readonly HostPressure[];
  readonly calls: readonly CallPressure[];
}

/** A fault in a world: whom it hits, what it does at a strength from 0 to 1, and what its logs say. */
export interface Fault {
  readonly kind: string;
  /** Words of which an explanation of this kind has one. */
  readonly said: RegExp;
  /** Components and hosts that are right answers. */
  readonly components: readonly number[];
  readonly hosts: readonly number[];
  /** Steps from the onset to full strength, as a share of what is left. */
  readonly ramp: 'step' | 'slow';
  press(pressures: Pressures, strength: number, sinceStep: number): void;
  /** Lines that a component logs while it is hit. */
  readonly logs: readonly {
    readonly component: number;
    readonly error: string;
    readonly exception: string;
  }[];
  /** A change that is the cause: a deploy, or a new configuration. */
  readonly change?: {
    readonly component: number;
    readonly kind: 'deploy' | 'config';
    readonly summary: string;
  };
  /** Component whose certificate has expired. */
  readonly certificate?: number;
}

/** Draws a fault in a world; nothing where the world has no place for it. */
export type Making = (random: Random, world: World) => Fault | undefined;
