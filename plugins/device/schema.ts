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
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'a part of the name, the host name or the address',
    }),
  ),
  tag: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 320 }), {
      maxItems: 10,
      description: 'env or env=prod; given more than once, all must be there',
    }),
  ),
  role: Type.Optional(
    Type.Array(Role, {
      maxItems: 10,
      description: 'given more than once, it must have all of them',
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
          description: 'null: what the machine calls itself',
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
  online: Type.Boolean({ description: 'whether an edge that watches it is connected' }),
  last_seen_at: Timestamp,
  node_id: orNull(Type.Integer({ description: 'its host node in the topology' })),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const DeviceEdge = Type.Object({
  id: Type.Integer(),
  name: orNull(Type.String()),
  status: orNull(Type.String({ description: 'null while the plugin edge is not available' })),
  agent_version: orNull(Type.String()),
  last_seen_at: orNull(Timestamp),
  binding: Type.Enum(['bound', 'conflict'], {
    description: 'conflict: it claims the device and does not prove it, and watches nothing',
  }),
  reason: orNull(Type.String({ description: 'why it is in conflict' })),
  machine_uuid: orNull(
    Type.String({ description: 'null for those who may not tell machines apart (device:accept)' }),
  ),
  machine_key: orNull(
    Type.String({
      description:
        'public half of the key that the machine proved; null also of an agent without one',
    }),
  ),
  bound_at: orNull(Timestamp),
  rival_edge_id: orNull(Type.Integer({ description: 'the edge that it is in conflict with' })),
  rival_device_id: orNull(Type.Integer({ description: 'the device that both claim' })),
  rival_since: orNull(Timestamp),
});
