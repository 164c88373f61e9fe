import { type Static, Type } from 'typebox';

import { orNull, Timestamp } from './fields.ts';

/**
 * Events of an edge, or the params `{ event, payload }` of the manager's method `tell`. States
 * (`plugin_health`, `buffer`) are events, sent again at every connection and every minute. What has
 * to arrive (`host_info`, `upgrade_state`) goes by `tell`: it is sent until it is answered, so it
 * may come twice. Only `host_info` binds the edge to a device.
 */

/**
 * Unsent records that a file of the buffer no longer holds; those before and after them were left
 * there at the two times.
 */
export const BufferDamage = Type.Object({
  lane: Type.String({ maxLength: 20 }),
  file: Type.String({ maxLength: 1_000 }),
  bytes: Type.Integer({ minimum: 0 }),
  from: orNull(Timestamp),
  to: orNull(Timestamp),
});
export type BufferDamage = Static<typeof BufferDamage>;

/** Event `buffer`: what of the data plane waits on the edge's disk, and what was lost there since it started. */
export const BufferEvent = Type.Object({
  dropped: Type.Integer({ minimum: 0 }),
  queued_bytes: Type.Integer({ minimum: 0 }),
  oldest_at: orNull(Timestamp),
  damaged: Type.Optional(Type.Array(BufferDamage, { maxItems: 16 })),
});
export type BufferEvent = Static<typeof BufferEvent>;

/** Answered with `now`, the manager's time; without the skew an edge asks for that alone. */
export const ClockEvent = Type.Object({
  skew_ms: Type.Optional(Type.Integer({ minimum: -8.64e15, maximum: 8.64e15 })),
});
export type ClockEvent = Static<typeof ClockEvent>;

/**
 * Params of the manager's method `push`, which answers `{}` once all of it is on disk: the same as
 * a request to the data plane, without a connection of its own. Errors are those of the route at
 * `to`.
 */
export interface PushParams {
  readonly to: string;
  readonly type: string;
  readonly encoding?: string | undefined;
  /** Base64. */
  readonly body: string;
}

/** Answer of the method `host_snapshot`, which has no params: canonical metrics by name. */
export const HostSnapshot = Type.Object({
  sampled_at: Timestamp,
  metrics: Type.Record(Type.String({ maxLength: 80 }), orNull(Type.Number()), {
    maxProperties: 64,
  }),
});
export type HostSnapshot = Static<typeof HostSnapshot>;

/** Params of the method `processes`. */
export const ProcessesParams = Type.Object({
  top: Type.Integer({ minimum: 1, maximum: 2_000 }),
  sort_by: Type.Enum(['cpu', 'mem']),
});
export type ProcessesParams = Static<typeof ProcessesParams>;

export const Process = Type.Object({
  pid: Type.Integer(),
  ppid: orNull(Type.Integer()),
  name: Type.String(),
  cmdline: Type.String(),
  user: orNull(Type.String()),
  state: Type.String(),
  cpu_percent: orNull(Type.Number()),
  mem_percent: orNull(Type.Number()),
  rss_bytes: orNull(Type.Integer()),
  started_at: orNull(Type.String()),
});

/** Answer of the method `processes`. */
export const Processes = Type.Object({
  sampled_at: Timestamp,
  processes: Type.Array(Process, { maxItems: 2_000 }),
});
export type Processes = Static<typeof Processes>;
