import type { Generated, Kysely, Selectable } from 'kysely';

export type Direction = 'src_to_dst' | 'dst_to_src' | 'bidirectional';

export interface TopologyTables {
  topology_node_types: {
    name: string;
    display_name: string;
    schema: string;
    tier: string;
    builtin: number;
    created_at: number;
  };
  topology_nodes: {
    id: Generated<number>;
    type: string;
    name: string;
    props: string;
    tags: string;
    device_id: number | null;
    created_at: number;
    updated_at: number;
  };
  topology_node_tags: { node_id: number; key: string; value: string };
  topology_relation_types: {
    name: string;
    display_name: string;
    direction: Direction;
    propagates_failure: number;
    builtin: number;
    created_at: number;
  };
  topology_relations: {
    id: Generated<number>;
    type: string;
    src_id: number;
    dst_id: number;
    props: string;
    created_at: number;
  };
}

export type TopologyDb = Kysely<TopologyTables>;
export type NodeTypeRow = Selectable<TopologyTables['topology_node_types']>;
export type NodeRow = Selectable<TopologyTables['topology_nodes']>;
export type RelationTypeRow = Selectable<TopologyTables['topology_relation_types']>;
export type RelationRow = Selectable<TopologyTables['topology_relations']>;
