import type { Convention } from 'svc/contracts/investigate';
import type { LabelRecord } from 'svc/contracts/metricsdb';
import type { Node } from 'svc/rca';

import names from '../conventions/labels.json' with { type: 'json' };
import { deviceNode, serviceNode } from '../fetch/symptom.ts';

/** Thing that labels name, and the one label that names it. */
export interface Entity extends Node {
  readonly label: string;
  readonly value: string;
}

type Kind = Convention['of'];

/** Jobs that measure others, whose name is not that of a thing. */
const measuring =
  /exporter|cadvisor|kubelet|kube-?state|^kubernetes-|blackbox|probe|prometheus|telegraf|collector|agent|^(?:node|nodes|integrations\/.*|static|apps?|services|default|monitoring)$/i;
/** Labels that name a thing by themselves; all others only recognize one that is known. */
const lastStrong = 'job';
const address = /^\d{1,3}(?:\.\d{1,3}){3}$|^\[?[0-9a-f:]*::?[0-9a-f:]+\]?$/i;
const strong = new Set(names.service.slice(0, names.service.indexOf(lastStrong)));
const podLabels = new Set(['pod', 'pod_name', 'k8s_pod_name']);
/** One job measures many stores: the address tells them apart, or the pod. */
const storeOrder = [...strong, 'instance', ...podLabels, 'job'];

/** Names of things, whatever label or form they come in: with a port, a domain, a namespace, the hash of a pod. */
export class Entities {
  readonly #services = new Map<string, Node>();
  readonly #hosts = new Map<string, Node>();
  /** Forms of a value, which thousands of series share. */
  readonly #forms = new Map<string, readonly string[]>();

  know(node: Node): void {
    const names_ = this.#of(node);
    for (const form of literalFormsOf(node.name)) {
      if (!names_.has(form)) {
        names_.set(form, node);
      }
    }
  }

  /**
   * Learns other names of things from series that have both: an address beside a host name, a pod
   * beside a service. A name that stands beside several things is none of theirs.
   */
  learn(rows: readonly LabelRecord[]): void {
    const hosts = new Map<string, Set<Node>>();
    const services = new Map<string, Set<Node>>();
    const note = (into: typeof hosts, name: string, node: Node): unknown =>
      into.set(name, (into.get(name) ?? new Set()).add(node));
    for (const row of rows.filter(
      ({ __name__: metric = '' }) => !/^(?:kube_|probe_)/.test(metric),
    )) {
      const host = this.#named(row, names.host.slice(0, -1), 'host');
      const service = this.#named(row, [...strong], 'service');
      const { instance } = row;
      if (instance !== undefined && host !== undefined) {
        note(hosts, bareOf(instance), host);
      }
      for (const label of ['instance', ...podLabels]) {
        // With its port: on one host there are many services.
        const name = row[label]?.toLowerCase();
        if (name !== undefined && service !== undefined) {
          note(services, name, service);
        }
      }
    }
    const settle = (from: typeof hosts, into: Map<string, Node>): void =>
      from.forEach((nodes, name) => {
        const [only] = nodes;
        if (new Set([...nodes].map(({ id }) => id)).size === 1 && !into.has(name)) {
          into.set(name, only!);
        }
      });
    settle(hosts, this.#hosts);
    settle(services, this.#services);
  }

  /** Returns the thing that labels name; `known`: only one that was known before. */
  resolve(
    labels: LabelRecord,
    of: Kind,
    { known = false }: { readonly known?: boolean } = {},
  ): Entity | undefined {
    if (of === 'any') {
      return (
        this.#recognized(labels, names.service, this.#services) ??
        this.resolve(labels, 'host', { known: true })
      );
    }
    if (of === 'host') {
      const { device_id: device } = labels;
      return device !== undefined
        ? {
            id: deviceNode(device),
            kind: 'host',
            name: deviceNode(device),
            label: 'device_id',
            value: device,
          }
        : (this.#recognized(labels, names.host, this.#hosts) ??
            (known ? undefined : this.#new(labels, names.host, of)));
    }
    return (
      this.#recognized(labels, names.service, this.#services) ??
      (known ? undefined : this.#new(labels, of === 'store' ? storeOrder : names.service, of))
    );
  }

  /** Returns the thing of this name. */
  called(name: string): Node | undefined {
    return this.#formsOf(name)
      .map((form) => this.#services.get(form) ?? this.#hosts.get(form))
      .find((node) => node !== undefined);
  }

  #formsOf(value: string): readonly string[] {
    const known = this.#forms.get(value) ?? formsOf(value);
    this.#forms.set(value, known);
    return known;
  }

  #of({ id, kind }: Node): Map<string, Node> {
    return kind === 'host' ||
      kind === 'device' ||
      id.startsWith('device:') ||
      id.startsWith('host:')
      ? this.#hosts
      : this.#services;
  }

  #recognized(
    labels: LabelRecord,
    order: readonly string[],
    among: ReadonlyMap<string, Node>,
  ): Entity | undefined {
    for (const label of order) {
      const value = labels[label];
      for (const form of value === undefined ? [] : this.#formsOf(value)) {
        const node = among.get(form);
        if (node !== undefined) {
          return { ...node, label, value: value! };
        }
      }
    }
    return undefined;
  }

  #named(labels: LabelRecord, order: readonly string[], of: 'host' | 'service'): Node | undefined {
    const found = this.resolve(labels, of, { known: true });
    return found !== undefined && order.includes(found.label)
      ? { id: found.id, kind: found.kind, name: found.name }
      : this.#new(labels, order, of);
  }

  #new(labels: LabelRecord, order: readonly string[], of: Kind): Entity | undefined {
    for (const label of order) {
      const value = labels[label];
      if (value === undefined || !namesThing(label, value, of)) {
        continue;
      }
      const name = podLabels.has(label) ? workloadOf(value) : nameOf(value, of);
      if (name !== '') {
        return of === 'host'
          ? { id: `host:${name}`, kind: 'host', name, label, value }
          : {
              id: serviceNode(name),
              kind: of === 'store' ? 'database' : 'service',
              name,
              label,
              value,
            };
      }
    }
    return undefined;
  }
}

/** Returns whether a label gives a thing of this kind its name, rather than a part or a group of things. */
function namesThing(label: string, value: string, of: Kind): boolean {
  if (of === 'host') {
    return !/^(?:https?:|localhost|127\.)/.test(value);
  }
  return (
    strong.has(label) ||
    podLabels.has(label) ||
    ((label === 'job' || label === 'exported_job') && !measuring.test(value)) ||
    (label === 'instance' &&
      of === 'store' &&
      !/^(?:https?:|localhost|127\.|unix)/.test(value) &&
      !address.test(bareOf(value)))
  );
}

const nameOf = (value: string, of: Kind): string =>
  of === 'host'
    ? bareOf(value)
    : value
        .slice(value.lastIndexOf('/') + 1)
        .replace(/:\d+$/, '')
        .replace(/[-_]exporter$/, '');

/** An address without scheme, path and port. */
const bareOf = (value: string): string =>
  value
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/[/?#].*$/, '')
    .replace(/(?<=[^:]):\d{1,5}$/, '');

/** Returns the workload of a pod: its name without the hashes, which have digits or no vowels, or the ordinal at its end. */
const workloadOf = (pod: string): string => {
  const deployed = pod.replace(
    /-(?:(?=[a-z]*\d)[a-z0-9]{6,10}|[b-df-hj-np-tv-xz]{6,10})-[a-z0-9]{5}$/,
    '',
  );
  return deployed === pod ? pod.replace(/-(?:\d{1,4}|[a-z0-9]{5})$/, '') : deployed;
};

/** Forms of a name that may be that of a known thing, most literal first. */
function formsOf(value: string): readonly string[] {
  const bare = bareOf(value);
  const first = firstOf(bare);
  return [
    ...new Set([...literalFormsOf(value), workloadOf(first), first.replace(/-\d{1,4}$/, '')]),
  ].filter((form) => form !== '');
}

/** Forms by which a thing is known: `worker-1` is no `worker`, or `worker-2` would be it as well. */
function literalFormsOf(value: string): readonly string[] {
  const whole = value.toLowerCase();
  const last = whole.includes('://') ? '' : whole.slice(whole.lastIndexOf('/') + 1);
  const bare = bareOf(value);
  return [...new Set([whole, last, bare, firstOf(bare)])].filter((form) => form !== '');
}

const firstOf = (bare: string): string => (address.test(bare) ? '' : (bare.split('.', 1)[0] ?? ''));
