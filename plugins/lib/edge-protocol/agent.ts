import { type Static, Type } from 'typebox';

import { AgentVersion, orNull, Sha256Hex, text } from './fields.ts';

/** `POST /internal/edge/enrol`: 201, or 401 when the token is spent, over, revoked or none. */
export const EnrolRequest = Type.Object({
  token: text(200, 16),
  machine_uuid: Type.String({
    pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
    examples: ['0e37df36-f698-11e6-8dd4-cb9ced3df976'],
  }),
  /** Public half of the machine's key, base64url: only the machine that proves it is let in with the keys of the answer. */
  machine_key: Type.Optional(Type.String({ pattern: '^[\\w-]{43}$', examples: ['A'.repeat(43)] })),
  hostname: text(255),
  agent_version: AgentVersion,
  arch: text(40),
  os: text(120),
});
export type EnrolRequest = Static<typeof EnrolRequest>;

/** The only time the secret is shown. */
export const EnrolAnswer = Type.Object({
  edge_id: Type.Integer(),
  name: Type.String(),
  access_key: Type.String(),
  secret_key: Type.String(),
  tunnel_path: Type.String(),
});
export type EnrolAnswer = Static<typeof EnrolAnswer>;

/**
 * State of an edge in HELLO: `agent_id` is the machine's UUID, `caps` are `call:<method>`,
 * `stream:<service>` and, where the owner allows it, `webshell`; `state` is this. `purpose:
 * 'probe'` proves a secret and is closed at once.
 */
export interface EdgeHelloState {
  /** The last hash that `config_apply` brought; absent before the first. */
  readonly config_hash?: string;
  /** The time of its clock, in milliseconds since 1970. */
  readonly now?: number;
  /** Public half of the machine's key, base64url; the proof is `machine_sig` of AUTH. Absent of agents from before there were keys. */
  readonly machine_key?: string;
  /** The agent made this key because the one before was damaged on its disk. */
  readonly machine_key_damaged?: boolean;
}

/** Information that the edge gets from the welcome of the tunnel. */
export interface EdgeWelcome {
  readonly edge_id: number;
  readonly name: string;
  readonly manager_version: string;
  /** True if the method `push` may be called, at least until the next welcome. */
  readonly takes_pushes: boolean;
  /** Span over which all edges come back if this manager is lost without a close. */
  readonly spread_ms: number;
}

/**
 * Answer of the manager to `host_info`: the device of this machine, or why it has none. Earlier
 * managers answer nothing.
 */
export interface Introduced {
  readonly device_id?: number | null;
  readonly reason?: string | null;
}

/**
 * Params of the mutating method `rotate_secret`; it answers `{}`. The edge stores the new secret
 * with the old one, proves it on a second connection, and only then drops the old one, answers over
 * the first connection, and continues with the second.
 */
export const RotateSecret = Type.Object({
  secret_key: Type.String(),
  generation: Type.Integer({ minimum: 1 }),
});
export type RotateSecret = Static<typeof RotateSecret>;

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
  /** Allows an older version than the running one. */
  allow_downgrade: Type.Optional(Type.Boolean()),
  /** Upgrades even while a shell is open. */
  force: Type.Optional(Type.Boolean()),
});
export type UpgradeOrder = Static<typeof UpgradeOrder>;

/** States in the order in which a job passes through them. */
export const upgradeStates = [
  'queued',
  'downloading',
  'verifying',
  'restarting',
  'succeeded',
  'failed',
  'rolled_back',
] as const;
export type UpgradeState = (typeof upgradeStates)[number];

/** Event `upgrade_state`; sent again after a reconnect until the job has ended. */
export const UpgradeStateEvent = Type.Object({
  job_id: Type.String({ maxLength: 64 }),
  state: Type.Enum([...upgradeStates]),
  version: Type.Optional(AgentVersion),
  error: Type.Optional(Type.String({ maxLength: 2_000 })),
});
export type UpgradeStateEvent = Static<typeof UpgradeStateEvent>;

/** Event `policy`, at each connection and change: what is wrong with `policy.yaml` of the host, or null. */
export const PolicyEvent = Type.Object({ problem: orNull(text(2_000)) });
export type PolicyEvent = Static<typeof PolicyEvent>;

const entries = Type.Array(text(1_000), { maxItems: 1_000 });

/** Answer of the method `host_policy`, which has no params: what the owner of the host allows, without passwords. */
export const HostPolicy = Type.Object({
  file: text(4_096),
  source: Type.Enum(['file', 'defaults']),
  problem: orNull(text(2_000)),
  tcp: entries,
  webshell: Type.Boolean(),
  skills: Type.Object({
    enabled: Type.Boolean(),
    paths: entries,
    measure: entries,
    views: entries,
    containers: entries,
    databases: entries,
    /** Absent: the agent is of a version that knows none. */
    commands: Type.Optional(entries),
    kubeconfig: orNull(text(1_000)),
    /** Absent: the agent is of a version that knows none. */
    browser: Type.Optional(orNull(text(1_000))),
    services: entries,
    probes: entries,
  }),
  plugins: Type.Object({ allowed: entries }),
  logs: Type.Object({ paths: entries }),
});
export type HostPolicy = Static<typeof HostPolicy>;
