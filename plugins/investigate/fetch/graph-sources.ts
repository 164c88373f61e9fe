import type { Change as FedChange, ChangeFeed } from 'svc/contracts/changes';
import type { Answer, EvidenceSource, Question } from 'svc/contracts/investigate';
import type { Neighbourhood, TopologyGraph } from 'svc/contracts/topology';
import type { SeenDevices } from 'svc/query';
import type { Handle } from 'svc/sdk';

import { errors } from './errors.ts';

export const hops = 3;
export const mostNodes = 60;

export interface Fed {
  readonly changes: readonly Pick<
    FedChange,
    'id' | 'at' | 'kind' | 'summary' | 'actor' | 'device_id' | 'service'
  >[];
}

/** `device_ids=7,8&names=shop` */
export const placesText = (
  places: Readonly<Record<string, readonly (string | number)[]>>,
): string =>
  Object.entries(places)
    .map(
      ([name, values]) => `${name}=${values.map((value) => encodeURIComponent(value)).join(',')}`,
    )
    .join('&');

function placesOf(text: string): Readonly<Record<string, readonly string[]>> {
  const pairs = text.split('&').map((part) => part.split('=', 2));
  return Object.fromEntries(
    pairs.map(([name = '', values = '']) => [
      name,
      values.split(',').filter(Boolean).map(decodeURIComponent),
    ]),
  );
}

/** Source of nodes related to some nodes. */
export const topologySource = (
  topology: Handle<TopologyGraph>,
  seen: SeenDevices,
): EvidenceSource => ({
  async ask({ query }: Question): Promise<Answer> {
    if (!topology.available) {
      throw errors.topology_away();
    }
    const { device_ids: devices = [], names = [] } = placesOf(query);
    const value: Neighbourhood = await topology
      .get()
      .neighbourhood(
        { device_ids: devices.map(Number), names, depth: hops, most: mostNodes },
        seen,
      );
    return {
      value,
      digest: { nodes: value.nodes.length, relations: value.relations.length },
      trust: 'trusted',
      truncated: !value.complete,
    };
  },
});

/** Source of changes at these places, and of those without a place. */
export const changeSource = (feed: Handle<ChangeFeed>, seen: SeenDevices): EvidenceSource => ({
  async ask({ query, window }: Question): Promise<Answer> {
    if (!feed.available) {
      throw errors.changes_away();
    }
    const { device_ids = [], services = [] } = placesOf(query);
    const found = await feed
      .get()
      .near({ start: window.from, end: window.to, device_ids, services, limit: 300 }, seen);
    const changes = found.map(({ id, at, kind, summary, actor, device_id, service }) => ({
      id,
      at,
      kind,
      summary,
      actor,
      device_id,
      service,
    }));
    const value: Fed = { changes };
    const newest = changes
      .slice(0, 5)
      .map(({ kind, summary }) => ({ kind, summary: summary.slice(0, 120) }));
    return {
      value,
      digest: { changes: changes.length, newest },
      trust: 'untrusted',
      truncated: changes.length === 300,
    };
  },
});
