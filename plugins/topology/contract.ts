import { defineService } from 'svc/sdk';

/** A node that a failure reaches. */
export interface Reached {
  readonly node_id: number;
  /** Steps from the node that failed. */
  readonly distance: number;
  /** The relation of the shortest way by which it is reached, and the node before it. */
  readonly via: { readonly relation_id: number; readonly type: string; readonly from_node_id: number };
}

export interface BlastRadius {
  /** Nearest first. */
  readonly reached: readonly Reached[];
  /** False when there is more, beyond the depth or the number of nodes. */
  readonly complete: boolean;
}

export interface TopologyGraph {
  /** What fails with a node; empty for one that is not there. */
  blastRadius(nodeId: number, depth: number): Promise<BlastRadius>;
}

export const TopologyGraph = defineService<TopologyGraph>('topology.graph');
