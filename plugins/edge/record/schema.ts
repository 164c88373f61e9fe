import {
  AgentVersion,
  Arch,
  PluginKind,
  PluginName,
  pluginStates,
  Sha256Hex,
  Timestamp,
  upgradeStates,
} from 'svc/edge-protocol';
import { type Static, type TSchema, Type } from 'typebox';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
const Labels = Type.Record(
  Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}$' }),
  Type.String({ maxLength: 255 }),
  {
    additionalProperties: false,
    maxProperties: 50,
  },
);
const Span = Type.String({
  pattern: '^(\\d{1,6}(ms|s|m|h|d))+$',
  examples: ['24h'],
  maxLength: 30,
});
const Uuid = Type.String({
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  examples: ['6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b'],
});

export const EdgeId = Type.Object({ id: Id });
export const EdgePluginId = Type.Object({ id: Id, name: PluginName });
export const EnrolmentId = Type.Object({ id: Id });
export const AgentArch = Type.Object({
  arch: Type.String({
    pattern: '^[a-z0-9_]{1,20}$',
    examples: ['x64'],
    description: 'x64 or arm64',
  }),
});
export const PackageFile = Type.Object({ file: Type.String({ minLength: 1, maxLength: 200 }) });

export const EdgeQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only edges whose name, description or host name contains this text',
    }),
  ),
  status: Type.Optional(Type.Enum(['pending', 'online', 'offline'])),
  label: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 320 }), {
      maxItems: 10,
      description: 'A tag, such as env or env=prod; if repeated, all must match',
    }),
  ),
  device_id: Type.Optional(Id),
  version_drift: Type.Optional(Type.Boolean()),
});

export const EdgeDraft = Type.Object({
  name: Name,
  description: Type.Optional(Type.String({ maxLength: 2_000 })),
  labels: Type.Optional(Labels),
});

export const EdgeItem = Type.Object({
  id: Id,
  name: Type.String(),
  description: Type.String(),
  status: Type.Enum(['pending', 'online', 'offline'], {
    description: 'pending: the edge has never connected',
  }),
  access_key: Type.String(),
  agent_version: orNull(Type.String()),
  version_drift: Type.Boolean({
    description: "Whether the agent's version differs from the manager's",
  }),
  clock_skew_ms: orNull(
    Type.Integer({
      description:
        "Milliseconds by which the edge's clock was ahead of the manager's at the last comparison; null while the edge is offline or the offset is uncertain",
    }),
  ),
  device_id: orNull(Type.Integer()),
  device_reason: orNull(Type.String({ description: 'Why the edge watches no device' })),
  notice: orNull(
    Type.String({
      description:
        'Problems with the agent, such as features that it lacks or other agents on its machine, with the remedy; null if none are known',
    }),
  ),
  machine_bound: Type.Boolean({
    description:
      "Whether the edge is bound to one machine by that machine's key; older agents have no key",
  }),
  refused_machine: orNull(
    Type.Object(
      { at: Timestamp, ip: Type.String(), reason: Type.String() },
      {
        description:
          "A machine that was refused because it used this edge's secret but is not the edge's machine",
      },
    ),
  ),
  host_info: orNull(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
      description: 'As reported by the machine',
    }),
  ),
  labels: Type.Record(Type.String(), Type.String()),
  last_seen_at: orNull(Timestamp),
  last_registered_at: orNull(Timestamp),
  conflict: orNull(
    Type.Object(
      { since: Timestamp, machine_uuids: Type.Array(Type.String()) },
      {
        description:
          "Machines that use the edge's keys at the same time; all are refused. Their details are shown to holders of edge:resolve.",
      },
    ),
  ),
  buffer: orNull(
    Type.Object(
      {
        dropped: Type.Integer(),
        queued_bytes: Type.Integer(),
        oldest_at: orNull(Timestamp),
        damaged: Type.Array(
          Type.Object({
            lane: Type.String({ description: 'metrics, logs, traces or events' }),
            file: Type.String(),
            bytes: Type.Integer(),
            from: orNull(Timestamp),
            to: orNull(Timestamp),
          }),
          {
            description:
              'Damaged parts of its files since the agent started: what they held was not sent and is lost. From and to are the times at which the records before and after were queued; null: there is none.',
          },
        ),
      },
      {
        description:
          "Data queued on the edge's disk and data dropped there, as of its last report; null: no report yet",
      },
    ),
  ),
  secret_generation: orNull(Type.Integer({ description: 'Incremented with each rotation' })),
  previous_secret_until: orNull(Timestamp),
  created_by: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const NewEdge = Type.Object({
  ...EdgeItem.properties,
  secret_key: Type.String({ description: 'Shown once' }),
});

export const RotateRequest = Type.Object({
  grace: Type.Optional(
    Type.String({
      ...Span,
      description:
        'How long the old secret of an offline edge stays valid, at most 24h. Default: 0s',
    }),
  ),
  immediate: Type.Optional(
    Type.Boolean({
      description:
        'Revoke the old secret at once, even if the edge is online; the new one must then be set on it by hand',
    }),
  ),
});

export const ResolveRequest = Type.Object({
  machine_uuid: Type.Optional(
    Type.String({
      ...Uuid,
      description:
        'The machine to accept; all others are refused until the secret is rotated. Default: the one that connects first',
    }),
  ),
});

export const EnrolmentDraft = Type.Object({
  name: Type.Optional(Name),
  max_uses: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Number of machines that can enrol. Default: 1',
    }),
  ),
  expires_in: Type.Optional(
    Type.String({ ...Span, description: 'Lifetime of the token, from 1m to 30d. Default: 1h' }),
  ),
  labels: Type.Optional(Labels),
  device_id: Type.Optional(
    Type.Integer({
      ...Id,
      description:
        'Device for the enrolled machine to take over; limited to one machine, and requires device:accept',
    }),
  ),
});

export const EnrolmentItem = Type.Object({
  id: Id,
  name: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  device_id: orNull(Type.Integer({ description: 'The device that the machine takes over' })),
  max_uses: Type.Integer(),
  uses: Type.Integer(),
  status: Type.Enum(['open', 'used_up', 'expired', 'revoked']),
  expires_at: Timestamp,
  revoked_at: orNull(Timestamp),
  created_by: Type.String(),
  created_at: Timestamp,
});

export const NewEnrolment = Type.Object({
  ...EnrolmentItem.properties,
  token: Type.String({ description: 'Shown once' }),
  install_command: Type.String({
    description: 'Command to run as root on each machine where svc is installed',
  }),
  script_command: orNull(
    Type.String({
      description:
        'The same command for machines where svc is not installed: it installs svc first',
    }),
  ),
  advice: orNull(
    Type.String({
      description: 'Why these commands do not work, or are not safe, on other machines',
    }),
  ),
});

const Health = Type.Object({
  state: Type.Enum([...pluginStates]),
  last_error: orNull(Type.String()),
  restart_count: Type.Integer(),
  started_at: orNull(Timestamp),
  updated_at: orNull(Timestamp),
  samples: Type.Integer(),
});

export const EdgePluginItem = Type.Object({
  name: PluginName,
  kind: PluginKind,
  enabled: Type.Boolean(),
  spec: Type.Record(Type.String(), Type.Unknown(), {
    description: "Includes the plugin's defaults",
  }),
  health: Health,
  settled: orNull(
    Type.Boolean({
      description: 'Whether the edge has the current configuration; null while it is offline',
    }),
  ),
});

export const EdgePluginPut = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    spec: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 200 })),
  },
  { minProperties: 1, description: 'Omitted fields stay unchanged' },
);

export const PluginCounts = Type.Object({
  enabled: Type.Integer(),
  disabled: Type.Integer(),
  plugins: Type.Array(
    Type.Object({
      name: PluginName,
      kind: PluginKind,
      enabled: Type.Integer(),
      disabled: Type.Integer(),
    }),
  ),
});

export const ProcessQuery = Type.Object({
  top: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_000, description: 'default 50' })),
  sort_by: Type.Optional(Type.Enum(['cpu', 'mem'], { description: 'Default: cpu' })),
});

const Milliseconds = Type.Integer({
  minimum: 0,
  maximum: 8_640_000_000_000_000,
  description: 'Milliseconds since the epoch',
  examples: [1_767_225_600_000],
});

export const ProcessHistoryQuery = Type.Object({ from: Milliseconds, to: Milliseconds });

/** Processes that used the most of a machine, at each measurement of a time. */
export const ProcessHistory = Type.Object({
  processes: Type.Array(
    Type.Object({
      pid: Type.Integer(),
      name: Type.String({ maxLength: 200 }),
      user: orNull(Type.String({ maxLength: 200 })),
      started_at: orNull(Type.Number({ description: 'Milliseconds since the epoch' })),
      uses: Type.Array(Type.Tuple([Type.Number(), Type.Number(), Type.Number(), Type.Number()]), {
        maxItems: 2_000,
        description:
          'Time in milliseconds, percent of one core, resident bytes, bytes read and written per second; oldest first',
      }),
    }),
    { maxItems: 100 },
  ),
});
export type ProcessHistory = Static<typeof ProcessHistory>;

export const Snapshot = Type.Object({
  device_id: orNull(Type.Integer()),
  sampled_at: Timestamp,
  metrics: Type.Record(Type.String(), orNull(Type.Number())),
});

const Insisting = {
  allow_downgrade: Type.Optional(
    Type.Boolean({ description: 'Allow a version older than the current one' }),
  ),
  force: Type.Optional(
    Type.Boolean({
      description: 'Upgrade even if a shell is open on the edge; the shell will be closed',
    }),
  ),
};

export const UpgradeRequest = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: 'An https URL, or a URL on this manager',
    examples: ['https://example.org/svc-1.2.0-x64'],
  }),
  sha256: Sha256Hex,
  version: Type.Optional(AgentVersion),
  signature: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9+/]{86}==$',
      examples: [`${'A'.repeat(86)}==`],
      description: 'Ed25519 signature over the 32 bytes of the sha256, base64',
    }),
  ),
  ...Insisting,
});

export const UpgradePackageRequest = Type.Object({
  version: Type.Optional(
    Type.String({ ...AgentVersion, description: "Default: the manager's version" }),
  ),
  arch: Type.Optional(
    Type.Enum([...Arch.enum], { description: 'Default: as reported by the machine' }),
  ),
  ...Insisting,
});

export const UpgradeStarted = Type.Object({
  job_id: Type.String(),
  state: Type.Enum([...upgradeStates]),
});

export const UpgradeItem = Type.Object({
  job_id: Type.String(),
  edge_id: Type.Integer(),
  state: Type.Enum([...upgradeStates]),
  url: Type.String(),
  sha256: Type.String(),
  version: orNull(Type.String()),
  error: orNull(Type.String()),
  created_by: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
  ended_at: orNull(Timestamp),
});
