import { Type } from 'typebox';

const text = (most: number, least = 0) => Type.String({ minLength: least, maxLength: most });
const orNull = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Number> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const Timestamp = Type.String({ format: 'date-time', maxLength: 40 });
/** Of an edge plugin, such as `hostmetrics`; not the id of the plugin that brings it. */
export const PluginName = Type.String({ pattern: '^[a-z][a-z0-9_-]{0,62}$' });
export const Sha256Hex = Type.String({ pattern: '^[0-9a-fA-F]{64}$' });
/** `v1.2.3`, with or without the v. */
export const AgentVersion = Type.String({ pattern: '^v?\\d{1,6}\\.\\d{1,6}\\.\\d{1,6}(-[0-9A-Za-z.-]{1,64})?$' });
/** As Node names it. */
export const Arch = Type.Enum(['x64', 'arm64', 'arm', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64']);

/** What `POST /internal/edge/enrol` takes. */
export const EnrolRequest = Type.Object({
  token: text(200, 16),
  machine_uuid: Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }),
  hostname: text(255),
  agent_version: AgentVersion,
  arch: text(40),
  os: text(120),
});

/** The only time the secret is told. */
export const EnrolAnswer = Type.Object({
  edge_id: Type.Integer(),
  name: Type.String(),
  access_key: Type.String(),
  secret_key: Type.String(),
  tunnel_path: Type.String(),
});

/** Method `host_snapshot`, without params. */
export const HostSnapshot = Type.Object({
  sampled_at: Timestamp,
  metrics: Type.Record(Type.String({ maxLength: 80 }), orNull(Type.Number()), { maxProperties: 64 }),
});

/** Params of the method `processes`. */
export const ProcessesParams = Type.Object({ top: Type.Integer({ minimum: 1, maximum: 2_000 }), sort_by: Type.Enum(['cpu', 'mem']) });

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
export const Processes = Type.Object({ sampled_at: Timestamp, processes: Type.Array(Process, { maxItems: 2_000 }) });

export const pluginStates = ['running', 'crashed', 'starting', 'stopping', 'stopped'] as const;

export const PluginHealth = Type.Object({
  state: Type.Enum([...pluginStates]),
  last_error: orNull(Type.String({ maxLength: 2_000 })),
  restart_count: Type.Integer({ minimum: 0 }),
  started_at: orNull(Timestamp),
  updated_at: Timestamp,
  /** What it has handled since it started: samples, lines, spans. */
  samples: Type.Integer({ minimum: 0 }),
});

export const PluginKind = Type.Enum(['metrics', 'logs', 'traces']);

/** Answer of the method `plugin_status`, which has no params. */
export const PluginStatusAnswer = Type.Array(Type.Object({ name: PluginName, kind: PluginKind, enabled: Type.Boolean(), health: PluginHealth }), {
  maxItems: 64,
});

/**
 * What an edge tells is an event, or the params `{ event, payload }` of the method `tell` of the manager. States (`plugin_health`,
 * `buffer`) are told as events, and again at every connection and every minute. What has to arrive (`host_info`, `upgrade_state`) goes
 * by `tell`: it is told until it was answered, so it may come twice.
 */

/** Event `plugin_health`, on every change and at least every minute. */
export const PluginHealthEvent = Type.Object({ name: PluginName, health: PluginHealth });

/**
 * Params of the mutating method `config_apply`: the whole desired state. The edge keeps it with `hash`, which it neither makes nor
 * checks: it is the name of this state, told again in the next HELLO. A plugin that the edge does not have is left out.
 */
export const ConfigApply = Type.Object({
  hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  plugins: Type.Record(PluginName, Type.Object({ enabled: Type.Boolean(), spec: Type.Record(Type.String(), Type.Unknown()) }), { maxProperties: 64 }),
});

/** Answer of `config_apply`, once the state is kept: what could not be done shows as the health of the plugin. */
export const ConfigApplied = Type.Object({ hash: Type.String() });

/**
 * Params of the mutating method `rotate_secret`; it answers `{}`. The edge keeps the new secret beside the old one, proves it on a
 * second connection, and only then drops the old one, answers over the first, and goes on with the second.
 */
export const RotateSecret = Type.Object({ secret_key: Type.String(), generation: Type.Integer({ minimum: 1 }) });

/**
 * Params of the mutating method `upgrade`, which answers `{}` as soon as the job is kept. `url` is absolute, or a path of the
 * manager, to be fetched with the keys of the edge. Without a version it is what the package says of itself.
 */
export const UpgradeOrder = Type.Object({
  job_id: Type.String({ maxLength: 64 }),
  url: text(2_000, 1),
  sha256: Sha256Hex,
  /** Ed25519 over the sha256, base64. */
  signature: Type.Optional(text(200, 1)),
  size_bytes: Type.Optional(Type.Integer({ minimum: 1 })),
  version: Type.Optional(AgentVersion),
  /** To an older version than the one that runs. */
  allow_downgrade: Type.Optional(Type.Boolean()),
  /** Also while a shell is open. */
  force: Type.Optional(Type.Boolean()),
});

export const upgradeStates = ['queued', 'downloading', 'verifying', 'restarting', 'succeeded', 'failed', 'rolled_back'] as const;

/** Event `upgrade_state`; told again after a reconnect until the job has ended. */
export const UpgradeStateEvent = Type.Object({
  job_id: Type.String({ maxLength: 64 }),
  state: Type.Enum([...upgradeStates]),
  version: Type.Optional(AgentVersion),
  error: Type.Optional(Type.String({ maxLength: 2_000 })),
});

/** Event `buffer`: what of the data plane waits on the edge's disk, and what was lost there since it started. */
export const BufferEvent = Type.Object({
  dropped: Type.Integer({ minimum: 0 }),
  queued_bytes: Type.Integer({ minimum: 0 }),
  oldest_at: orNull(Timestamp),
});

/** `edge.json` beside the plugin.json of a plugin that runs on edges. */
export const EdgePluginFile = Type.Object({
  name: PluginName,
  kind: PluginKind,
  default_enabled: Type.Boolean(),
  /** JSON Schema of its spec, with defaults. */
  spec: Type.Record(Type.String(), Type.Unknown()),
});
