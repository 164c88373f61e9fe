import { type TSchema, Type } from 'typebox';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Timestamp = Type.String({ format: 'date-time' });
const TypeName = Type.String({ pattern: '^[a-z][a-z0-9_-]{0,62}$', examples: ['database'] });
/** Name in a request: whatever it is, it may not exist. */
const AnyName = Type.String({ minLength: 1, maxLength: 63 });
const Title = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
const Props = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Must match the schema of its type; at most 16 KiB',
});
const FreeProps = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Any JSON; at most 16 KiB',
});
const Tags = Type.Record(
  Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}$' }),
  Type.String({ maxLength: 255 }),
  {
    additionalProperties: false,
    maxProperties: 50,
  },
);
const Depth = Type.Integer({
  minimum: 1,
  maximum: 10,
  default: 3,
  description: 'Maximum number of steps from the node',
});
const DirectionOf = Type.Enum(['src_to_dst', 'dst_to_src', 'bidirectional'], {
  description: 'Direction in which failure spreads',
});

export const ById = Type.Object({ id: Id });
export const ByName = Type.Object({ name: AnyName });

export const NodeTypeQuery = Type.Object({
  tier: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
});

export const NodeTypeDraft = Type.Object({
  name: TypeName,
  display_name: Type.Optional(Title),
  schema: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    description: 'JSON Schema (draft-07, without references) of the props; at most 16 KiB',
  }),
  tier: Type.String({
    pattern: '^[a-z][a-z0-9_-]{0,62}$',
    examples: ['data'],
    default: 'custom',
    description: 'Layer that nodes of this type belong to',
  }),
});

export const NodeTypeItem = Type.Object({
  name: Type.String(),
  display_name: Type.String(),
  schema: Type.Record(Type.String(), Type.Unknown()),
  tier: Type.String(),
  builtin: Type.Boolean(),
});

export const NodeQuery = Type.Object({
  type: Type.Optional(AnyName),
  tag: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 320 }), {
      maxItems: 10,
      description: 'A tag, such as env or env=prod; if repeated, all must match',
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only nodes whose name contains this text',
    }),
  ),
});

export const NodeDraft = Type.Object({
  type: Type.String({ ...AnyName, examples: ['service'] }),
  name: Title,
  props: Type.Optional(Props),
  tags: Type.Optional(Tags),
});

export const NodePatch = Type.Object(
  { name: Type.Optional(Title), props: Type.Optional(Props), tags: Type.Optional(Tags) },
  {
    minProperties: 1,
    description:
      "Replaces the given fields; a device's name and tags are changed on the device itself",
  },
);

export const NodeItem = Type.Object({
  id: Id,
  type: Type.String(),
  name: Type.String(),
  props: Type.Record(Type.String(), Type.Unknown()),
  tags: Type.Record(Type.String(), Type.String()),
  device_id: orNull(Type.Integer({ description: 'Device that the node represents' })),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const RemovalQuery = Type.Object({
  cascade: Type.Optional(Type.Boolean({ description: "Also delete the node's relations" })),
});

export const RelationTypeDraft = Type.Object({
  name: TypeName,
  display_name: Type.Optional(Title),
  direction: DirectionOf,
  propagates_failure: Type.Boolean({ default: true }),
});

export const RelationTypeItem = Type.Object({
  name: Type.String(),
  display_name: Type.String(),
  direction: DirectionOf,
  propagates_failure: Type.Boolean(),
  builtin: Type.Boolean(),
});

export const RelationQuery = Type.Object({
  type: Type.Optional(AnyName),
  src_id: Type.Optional(Id),
  dst_id: Type.Optional(Id),
  node_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Node at either end of the relation',
    }),
  ),
});

export const RelationDraft = Type.Object(
  { type: AnyName, src_id: Id, dst_id: Id, props: Type.Optional(FreeProps) },
  { examples: [{ type: 'depends_on', src_id: 1, dst_id: 2 }] },
);

export const RelationPatch = Type.Object(
  { type: Type.Optional(AnyName), props: Type.Optional(FreeProps) },
  { minProperties: 1 },
);

export const RelationItem = Type.Object({
  id: Id,
  type: Type.String(),
  src_id: Type.Integer(),
  dst_id: Type.Integer(),
  props: Type.Record(Type.String(), Type.Unknown()),
  created_at: Timestamp,
});

export const BlastQuery = Type.Object({ depth: Type.Optional(Depth) });

export const Blast = Type.Object({
  node: NodeItem,
  depth: Type.Integer(),
  complete: Type.Boolean({
    description: 'false if there are more nodes than the maximum depth or number allows',
  }),
  reached: Type.Array(
    Type.Object({
      node: NodeItem,
      distance: Type.Integer(),
      via: Type.Object({
        relation_id: Type.Integer(),
        type: Type.String(),
        from_node_id: Type.Integer(),
      }),
    }),
    { description: 'Nodes that fail if this node fails, nearest first' },
  ),
});
