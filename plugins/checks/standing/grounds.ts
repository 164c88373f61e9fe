import type { EdgeEntry, EdgeFleet } from 'svc/contracts/edge';
import type { Neighbourhood, TopologyGraph } from 'svc/contracts/topology';
import type { Handle } from 'svc/sdk';

import type { Check } from '../check/check.ts';
import { type Cause, causeOf, type Ground } from './cause.ts';

export interface GroundsParts {
  readonly fleet: Handle<EdgeFleet>;
  readonly topology: Handle<TopologyGraph>;
  readonly checks: () => readonly Check[];
  /** Returns the places that these texts name at this moment. */
  readonly sitesOf: (
    texts: readonly string[],
  ) => Promise<readonly { readonly edgeId: number | undefined }[]>;
}

/** Steps in the topology from the host of a target: its gateway, and the provider behind that. */
const [depth, mostNodes] = [4, 2_000];

/** Prefix of what a check depends on in the topology; without it, it is another check. */
export const nodePrefix = 'node:';

/** Tells what checks stand on: other checks, nodes of the topology, and the machines of agents. */
export class Grounds {
  readonly #parts: GroundsParts;

  constructor(parts: GroundsParts) {
    this.#parts = parts;
  }

  /** Returns the causes of those of these checks that have one, by the ID of the check. */
  async causesOf(checks: readonly Check[]): Promise<ReadonlyMap<number, Cause>> {
    const byName = new Map(this.#parts.checks().map((check) => [check.name, check]));
    const below = await this.#nodesBelow([...byName.values()]);
    const away = await this.#agentsAway([...byName.values()]);
    const edges = this.#parts.fleet.available ? this.#parts.fleet.get().list() : [];
    const ofDevice = new Map(edges.map((edge) => [edge.device_id, edge]));
    const found = (check: Check): readonly Ground[] => [
      ...check.definition.depends_on.flatMap((name) => groundOf(byName.get(name))),
      ...below(check).flatMap(({ name, device_id: device }) => {
        const edge = device === null ? undefined : ofDevice.get(device);
        return [
          ...groundOf(byName.get(name), check),
          ...(edge === undefined ? [] : awayOf(edge, 'host', name)),
        ];
      }),
      ...away(check),
    ];
    const known = new Map<number, readonly Ground[]>();
    const groundsOf = (check: Check): readonly Ground[] => {
      const grounds = known.get(check.id) ?? found(check);
      known.set(check.id, grounds);
      return grounds;
    };
    return new Map(
      checks.flatMap((check) => {
        const cause = causeOf(check, groundsOf);
        return cause === undefined ? [] : [[check.id, cause] as const];
      }),
    );
  }

  /** Returns, for each check that cannot be probed, those of its agents that are away, if it is probed by agents alone. */
  async #agentsAway(checks: readonly Check[]): Promise<(check: Check) => readonly Ground[]> {
    const { fleet, sitesOf } = this.#parts;
    const edges = fleet.available ? fleet.get().list() : [];
    const grounds = new Map<string, readonly Ground[]>();
    const keyOf = ({ definition }: Check): string => JSON.stringify(definition.places);
    const silent = checks.filter(
      ({ state, paused, definition }) =>
        state === 'stale' && !paused && !definition.places.includes('svc'),
    );
    for (const check of silent) {
      if (!grounds.has(keyOf(check))) {
        const sites = await sitesOf(check.definition.places);
        const ids = new Set(sites.map(({ edgeId }) => edgeId));
        const found = edges.filter(({ id }) => ids.has(id));
        grounds.set(
          keyOf(check),
          found.flatMap((edge) => awayOf(edge, 'agent', edge.name)),
        );
      }
    }
    const known = new Set(silent.map(({ id }) => id));
    return (check) => (known.has(check.id) ? grounds.get(keyOf(check))! : []);
  }

  /** Returns, for each check, the nodes whose failure reaches the one it is about; the nearest first. */
  async #nodesBelow(checks: readonly Check[]): Promise<(check: Check) => Neighbourhood['nodes']> {
    const { topology } = this.#parts;
    const broken = checks.filter(({ state, paused }) => !paused && /^(?:down|stale)$/.test(state));
    const names = [...new Set(broken.flatMap(nodeNamesOf))];
    if (!topology.available || names.length === 0) {
      return () => [];
    }
    const { nodes, relations } = await topology
      .get()
      .neighbourhood({ names, depth, most: mostNodes }, undefined);
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const causes = new Map<number, number[]>();
    for (const { cause_id: cause, effect_id: effect } of relations) {
      causes.set(effect, [...(causes.get(effect) ?? []), cause]);
    }
    return (check) => {
      const starts = new Set(nodeNamesOf(check));
      const found = new Set(nodes.filter(({ name }) => starts.has(name)).map(({ id }) => id));
      // A set is walked in the order in which it grows, so this is breadth first.
      for (const id of found) {
        causes.get(id)?.forEach((cause) => found.add(cause));
      }
      return [...found].flatMap((id) => byId.get(id) ?? []);
    };
  }
}

/** Nodes that a check is about: those it names, and the one that is called as the host of its target. */
const nodeNamesOf = ({
  definition: { kind, target, depends_on: dependsOn },
}: Check): readonly string[] => [
  ...dependsOn.flatMap((name) =>
    name.startsWith(nodePrefix) ? [name.slice(nodePrefix.length)] : [],
  ),
  ...(/^(?:domain|dns|command)$/.test(kind) ? [] : hostOf(target)),
];

const hostOf = (target: string): readonly string[] => {
  const [, host] = /^(?:[a-z]+:\/\/)?(\[[^\]]+\]|[^:/?#]+)/i.exec(target) ?? [];
  return host === undefined ? [] : [host.replaceAll(/^\[|\]$/g, '')];
};

const groundOf = (ground: Check | undefined, self?: Check): readonly Ground[] =>
  ground === undefined || ground.id === self?.id ? [] : [{ check: ground }];

const awayOf = (
  { status, last_seen_at: since }: EdgeEntry,
  kind: Cause['kind'],
  name: string,
): readonly Ground[] =>
  status === 'offline' && since !== null ? [{ away: { kind, name, since } }] : [];
