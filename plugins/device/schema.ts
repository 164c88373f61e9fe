import { type TSchema, Type } from 'typebox';

import { sorts } from './search-terms.ts';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const most = Number.MAX_SAFE_INTEGER;
const Id = Type.Integer({ minimum: 1, maximum: most });
const Timestamp = Type.String({ format: 'date-time' });

const Tags = Type.Record(
  Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}$' }),
  Type.String({ maxLength: 255 }),
  {
    additionalProperties: false,
    maxProperties: 50,
  },
);
const Role = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$', examples: ['db'] });

export const DeviceId = Type.Object({ id: Id });
export const DeviceEdgeId = Type.Object({ id: Id, edge_id: Id });

export const DeviceQuery = Type.Object({
  id: Type.Optional(Type.Array(Id, { maxItems: 200, description: 'Only devices with these ids' })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only devices whose name, host name or address contains this text',
    }),
  ),
  tag: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 320 }), {
      maxItems: 10,
      description: 'A tag, such as env or env=prod; if repeated, all must match',
    }),
  ),
  role: Type.Optional(
    Type.Array(Role, {
      maxItems: 10,
      description: 'A role; if repeated, the device must have all of them',
    }),
  ),
  online: Type.Optional(Type.Boolean()),
});

export const DevicePatch = Type.Object(
  {
    display_name: Type.Optional(
      orNull(
        Type.String({
          minLength: 1,
          maxLength: 200,
          pattern: '\\S',
          description: 'null: the host name is used',
        }),
      ),
    ),
    tags: Type.Optional(Tags),
  },
  { minProperties: 1 },
);

export const RolesPatch = Type.Object({
  roles: Type.Array(Role, { maxItems: 32, uniqueItems: true }),
});

export const DeviceItem = Type.Object({
  id: Id,
  display_name: Type.String(),
  hostname: orNull(Type.String()),
  os: orNull(Type.String()),
  os_version: orNull(Type.String()),
  arch: orNull(Type.String()),
  kernel_version: orNull(Type.String()),
  ip_address: orNull(Type.String()),
  cpu_count: orNull(Type.Integer()),
  mem_total_bytes: orNull(Type.Integer()),
  disk_total_bytes: orNull(Type.Integer()),
  tags: Type.Record(Type.String(), Type.String()),
  roles: Type.Array(Type.String()),
  online: Type.Boolean({
    description:
      'Whether an edge that watches the device is connected, or a connected store scrapes it',
  }),
  last_seen_at: Timestamp,
  reported_by: Type.Array(Type.String(), {
    description: 'Connected stores that have series of the device',
  }),
  node_id: orNull(Type.Integer({ description: "The device's host node in the topology" })),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const DeviceEdge = Type.Object({
  id: Type.Integer(),
  name: orNull(Type.String()),
  status: orNull(Type.String({ description: 'null while the edge plugin is not available' })),
  agent_version: orNull(Type.String()),
  last_seen_at: orNull(Timestamp),
  binding: Type.Enum(['bound', 'conflict'], {
    description: 'conflict: the edge claims the device without proof, so it watches nothing',
  }),
  reason: orNull(Type.String({ description: 'Reason for the conflict' })),
  machine_uuid: orNull(Type.String({ description: 'null for callers without device:accept' })),
  machine_key: orNull(
    Type.String({
      description: 'Public key that the machine has proved it holds; null for agents without a key',
    }),
  ),
  bound_at: orNull(Timestamp),
  rival_edge_id: orNull(Type.Integer({ description: 'The edge that this one conflicts with' })),
  rival_device_id: orNull(Type.Integer({ description: 'The device that both edges claim' })),
  rival_since: orNull(Timestamp),
});

const Figure = orNull(Type.Number());

export const FoundDevice = Type.Object({
  ...DeviceItem.properties,
  agent_version: orNull(Type.String()),
  edge_id: orNull(Type.Integer({ description: 'The edge that watches the device' })),
  cpu: Figure,
  memory: Figure,
  load: Figure,
  disk: Type.Union([Type.Number(), Type.Null()], { description: 'Use of the fullest disk' }),
  firing: Type.Integer({ description: 'Number of firing alerts of the device' }),
  severity: orNull(Type.Enum(['critical', 'warning', 'info'])),
});

const Searched = Type.String({
  maxLength: 500,
  examples: ['role:db env=prod cpu > 80'],
  description:
    'Words, fields (role:db), tags (env=prod) and conditions (cpu > 80), all of which must hold; - in front excludes',
});

export const SearchQuery = Type.Object({
  search: Type.Optional(Searched),
  sort: Type.Optional(
    Type.Enum(
      sorts.flatMap((column) => [column, `-${column}`] as const),
      { description: 'Column to sort by; - in front for the largest first. Default: name' },
    ),
  ),
});

export const GroupsQuery = Type.Object({
  search: Type.Optional(Searched),
  by: Type.String({
    pattern: '^(role|os|version|status|tag:[A-Za-z0-9][A-Za-z0-9_./-]{0,62})$',
    examples: ['role', 'tag:env'],
    description: 'role, os, version, status, or tag:KEY',
  }),
});

export const Groups = Type.Object({
  groups: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Empty: devices that belong to no group' }),
      devices: Type.Integer(),
      offline: Type.Integer(),
      critical: Type.Integer({ description: 'Number of devices with a critical alert' }),
      warning: Type.Integer({
        description: 'Number of devices with a warning and no critical alert',
      }),
    }),
  ),
  left_out: Type.Integer({ description: 'Number of groups beyond the first 500' }),
});

export const CellsQuery = Type.Object({
  search: Type.Optional(Searched),
  figure: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z_:][A-Za-z0-9_:]{0,199}$',
      examples: ['cpu'],
      description:
        'Figure that each cell has as its value: cpu, memory, load, disk, swap, uptime, or the name of a metric',
    }),
  ),
});

export const Cells = Type.Object({
  total: Type.Integer(),
  cells: Type.Array(
    Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      state: Type.Enum(['ok', 'warning', 'critical', 'offline']),
      value: Type.Optional(
        orNull(Type.Number({ description: 'The figure asked for; null: not measured' })),
      ),
    }),
    { description: 'At most 20,000 devices, sorted by name' },
  ),
});
