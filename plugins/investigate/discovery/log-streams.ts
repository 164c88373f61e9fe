import type { Node, Period } from 'svc/rca';

import names from '../conventions/labels.json' with { type: 'json' };
import type { Entities } from './entities.ts';
import type { Gatherer } from '../fetch/gatherer.ts';
import type { Grid } from '../fetch/metrics-source.ts';
import type { Graph } from '../fetch/scope.ts';
import { deviceNode, serviceNode } from '../fetch/symptom.ts';

/** Labels of streams by which they are those of a thing, in the order in which they are trusted. */
const labels = [...new Set(['device_id', 'service_name', ...names.service, ...names.host])];
const mostValues = 20;
/** Name that streams get which say nothing of their service. */
const unnamed = 'unknown_service';

/** Streams of one thing: the label that names it, with the values that do. */
export interface Streams {
  readonly label: string;
  readonly values: readonly string[];
}

/** Names that streams have, by label. */
export type StreamNames = Readonly<Record<string, readonly string[]>>;

/** Returns the selector of the lines of a thing by its own name, for where streams cannot be listed. */
export function usualSelector(id: string): string | undefined {
  const [kind, name = ''] = id.split(/:(.*)/s, 2);
  return kind === 'device'
    ? `{device_id=${JSON.stringify(name)}}`
    : kind === 'service'
      ? `{service_name=${JSON.stringify(name)}}`
      : undefined;
}

/** Asks which names streams have; undefined where the store does not say. */
export async function streamNames(
  gatherer: Gatherer,
  window: Period,
): Promise<StreamNames | undefined> {
  const found = await gatherer.ask({
    kind: 'log',
    source: 'streams',
    query: labels.join(', '),
    window,
  });
  return found?.value as StreamNames | undefined;
}

/** Adds the services that write lines: of some nothing else is known. */
export function addWriters(graph: Graph, entities: Entities, named: StreamNames = {}): void {
  for (const value of named['service_name'] ?? []) {
    if (value !== unnamed && entities.resolve({ service_name: value }, 'any') === undefined) {
      const node: Node = { id: serviceNode(value), kind: 'service', name: value };
      graph.addMeasured(node);
      entities.know(node);
    }
  }
}

const hostLabels = names.host.filter((label) => label !== 'instance' && label !== 'device_id');
const minuteMs = 60_000;
const placed = 0.9;

/** Adds where the writers of lines run, where their streams name a host as well. */
export async function addWritersPlaces(
  graph: Graph,
  gatherer: Gatherer,
  entities: Entities,
  { named = {}, until }: { readonly named: StreamNames | undefined; readonly until: number },
): Promise<void> {
  const service = names.service.find((label) => named[label] !== undefined);
  const host = hostLabels.find((label) => named[label] !== undefined);
  // Of hosts that have agents it is known anyway.
  if (service === undefined || host === undefined || named['device_id'] !== undefined) {
    return;
  }
  const found = await gatherer.ask({
    kind: 'topology',
    source: 'counts',
    query: `sum by (${service}, ${host}) (count_over_time({${service}=~".+", ${host}=~".+"}[30m])) > bool 0`,
    window: { from: until - minuteMs, to: until },
  });
  for (const { labels: own } of ((found?.value ?? { series: [] }) as Pick<Grid, 'series'>).series) {
    const writer = entities.resolve({ [service]: own[service]! }, 'any');
    const place = entities.resolve({ [host]: own[host]! }, 'host');
    if (writer !== undefined && place !== undefined && writer.id !== place.id) {
      const node: Node = { id: place.id, kind: place.kind, name: place.name };
      graph.addMeasured(node);
      entities.know(node);
      graph.addEdge({
        from: writer.id,
        to: place.id,
        relation: 'runs_on',
        origin: 'log',
        evidence: found!.id,
        weight: placed,
      });
    }
  }
}

/** Returns the streams of each thing: they name it in one label or another, and in some form. */
export function streamsOf(
  named: StreamNames | undefined,
  entities: Entities,
): ReadonlyMap<string, Streams> | undefined {
  if (named === undefined) {
    return undefined;
  }
  const streams = new Map<string, { readonly label: string; readonly values: string[] }>();
  for (const label of labels) {
    for (const value of named[label] ?? []) {
      const id =
        label === 'device_id'
          ? deviceNode(value)
          : (entities.resolve({ [label]: value }, 'any')?.id ??
            (label === 'service_name' ? serviceNode(value) : undefined));
      const known = id === undefined ? undefined : streams.get(id);
      if (id !== undefined && known === undefined) {
        streams.set(id, { label, values: [value] });
      } else if (known?.label === label && known.values.length < mostValues) {
        known.values.push(value);
      }
    }
  }
  // Where services have streams of their own, those of a host are the same lines again.
  const ofServices = [...streams.values()].some(({ label }) => label === 'service_name');
  return new Map([...streams].filter(([id]) => !ofServices || !/^(?:node|host):/.test(id)));
}

/** Returns the selector of some streams. */
export const selectorOf = ({ label, values }: Streams): string =>
  values.length === 1
    ? `{${label}=${JSON.stringify(values[0])}}`
    : `{${label}=~${JSON.stringify(values.map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'))}}`;
