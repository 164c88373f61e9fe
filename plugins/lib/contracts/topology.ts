import type { SeenDevices } from 'svc/query';
import { defineService } from 'svc/sdk';

/** A node that a failure reaches. */
export interface Reached {
  readonly node_id: number;
  /** Steps from the node that failed. */
  readonly distance: number;
  /** The relation of the shortest way by which it is reached, and the node before it. */
  readonly via: {
    readonly relation_id: number;
    readonly type: string;
    readonly from_node_id: number;
  };
}

export interface BlastRadius {
  /** Nearest first. */
  readonly reached: readonly Reached[];
  /** False when there is more, beyond the depth or the number of nodes. */
  readonly complete: boolean;
}

/** Start nodes and depth. */
export interface Around {
  readonly node_ids?: readonly number[];
  /** The host nodes of these. */
  readonly device_ids?: readonly number[];
  /** Nodes that are called so. */
  readonly names?: readonly string[];
  readonly depth: number;
  /** Nodes at most; default 500. */
  readonly most?: number;
}

export interface Neighbourhood {
  /** Nearest first. */
  readonly nodes: readonly {
    readonly id: number;
    readonly type: string;
    readonly name: string;
    readonly device_id: number | null;
    readonly distance: number;
  }[];
  /** When `cause_id` fails, `effect_id` does. */
  readonly relations: readonly {
    readonly id: number;
    readonly type: string;
    readonly cause_id: number;
    readonly effect_id: number;
  }[];
  /** False when there is more. */
  readonly complete: boolean;
}

export interface TopologyGraph {
  /** Returns what fails with a node; empty for an unknown one. */
  blastRadius(nodeId: number, depth: number): Promise<BlastRadius>;
  /**
   * Returns the surroundings of some nodes along relations that spread failures, in both
   * directions, computed as if only visible nodes existed.
   */
  neighbourhood(around: Around, seen: SeenDevices): Promise<Neighbourhood>;
}

export const TopologyGraph = defineService<TopologyGraph>('topology.graph');
