import { type TSchema, Type } from 'typebox';

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
