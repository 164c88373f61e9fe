import { timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import type { NodeItem, NodeTypeItem, RelationItem, RelationTypeItem } from './schema.ts';
import type { NodeRow, NodeTypeRow, RelationRow, RelationTypeRow } from './tables.ts';

export type ShownNodeType = Static<typeof NodeTypeItem>;
export type ShownNode = Static<typeof NodeItem>;
export type ShownRelationType = Static<typeof RelationTypeItem>;
export type ShownRelation = Static<typeof RelationItem>;

export const shownNodeType = ({
  name,
  display_name,
  schema,
  tier,
  builtin,
}: NodeTypeRow): ShownNodeType => ({
  name,
  display_name,
  schema: JSON.parse(schema) as Record<string, unknown>,
  tier,
  builtin: builtin === 1,
});

export const shownNode = ({
  id,
  type,
  name,
  props,
  tags,
  device_id,
  created_at,
  updated_at,
}: NodeRow): ShownNode => ({
  id,
  type,
  name,
  props: JSON.parse(props) as Record<string, unknown>,
  tags: JSON.parse(tags) as Record<string, string>,
  device_id,
  created_at: timestamp(created_at),
  updated_at: timestamp(updated_at),
});

export const shownRelationType = ({
  name,
  display_name,
  direction,
  propagates_failure,
  builtin,
}: RelationTypeRow): ShownRelationType => ({
  name,
  display_name,
  direction,
  propagates_failure: propagates_failure === 1,
  builtin: builtin === 1,
});

export const shownRelation = ({
  id,
  type,
  src_id,
  dst_id,
  props,
  created_at,
}: RelationRow): ShownRelation => ({
  id,
  type,
  src_id,
  dst_id,
  props: JSON.parse(props) as Record<string, unknown>,
  created_at: timestamp(created_at),
});
