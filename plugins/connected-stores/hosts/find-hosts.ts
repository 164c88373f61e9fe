import type { Labels, Sample } from '../prometheus/server.ts';
import { nameBy, type NamingRule } from './host-rules.ts';

/** Host that a server has series of. */
export interface FoundHost {
  readonly name: string;
  /** Label that names it. */
  readonly by: string;
  readonly instances: readonly string[];
  readonly online: boolean;
  /** Time of its newest sample; undefined if its exporters do not tell. */
  readonly seenAt: number | undefined;
  readonly addresses: readonly string[];
  /** Facts of its system that its series tell. */
  readonly info: Readonly<Record<string, string>>;
}

export interface FoundHosts {
  readonly hosts: readonly FoundHost[];
  /** Name of the host that a series is of; undefined: it names none. */
  readonly hostOf: (labels: Labels) => string | undefined;
}

/** Target whose series describe a host: an exporter, or an agent that sends. */
interface Target {
  readonly labels: Record<string, string>;
  online: boolean;
}

/** Selects series that each host has a few of, whatever exporter it has. */
export const hostSeries =
  '{__name__=~"node_uname_info|node_load1|windows_os_info|system_cpu_load_average_1m|system_memory_usage_bytes|system_memory_usage"}';

/** Hosts that were there within a day, at the first look: one that is down has no series now. */
export const hostSeriesBefore = 'last_over_time(node_uname_info[1d])';

/** Seconds since the newest sample of each target, of one that is down as well. */
export const targetAges = [
  'time() - timestamp(up)',
  'time() - timestamp(node_uname_info)',
] as const;

/** Ages of targets that were there within a day, at the first look. */
export const targetAgesBefore = 'time() - max_over_time(timestamp(node_uname_info)[1d:5m])';

/**
 * Returns the hosts of these series; `ups` are those of `up`, by which a target is down, and `seen`
 * the times of the newest samples by instance.
 */
export function findHosts(
  series: readonly Sample[],
  ups: readonly Sample[],
  rules: readonly NamingRule[],
  seen: ReadonlyMap<string, number> = new Map(),
): FoundHosts {
  const targets = targetsOf(series, ups, rules);
  const names = namesOf(targets, rules);
  const hosts = new Map<string, { by: string; targets: Target[] }>();
  for (const [target, { name, by }] of names) {
    const host = hosts.get(name) ?? { by, targets: [] };
    host.targets.push(target);
    hosts.set(name, host);
  }
  const byInstance = new Map<string, string>();
  const byMachine = new Map<string, string | null>();
  for (const [{ labels }, { name }] of names) {
    const { instance } = labels;
    if (instance !== undefined) {
      byInstance.set(instance, name);
      const machine = machineOf(instance);
      const other = byMachine.get(machine);
      byMachine.set(machine, other === undefined || other === name ? name : null);
    }
  }
  return {
    hosts: [...hosts].map(([name, { by, targets: own }]) => foundHost(name, by, own, seen)),
    hostOf({ instance, ...labels }) {
      const known =
        instance === undefined
          ? undefined
          : (byInstance.get(instance) ?? byMachine.get(machineOf(instance)) ?? undefined);
      return known ?? namedIn(labels, rules, hosts);
    },
  };
}

function targetsOf(
  series: readonly Sample[],
  ups: readonly Sample[],
  rules: readonly NamingRule[],
): readonly Target[] {
  const down = new Set(
    ups.flatMap(({ labels, value }) => (value === 0 ? [labels['instance'] ?? ''] : [])),
  );
  const targets = new Map<string, Target>();
  for (const { labels } of series) {
    // What svc has written there itself has its device already.
    if ((labels['device_id'] ?? '') !== '') {
      continue;
    }
    const key =
      labels['instance'] ??
      rules.map((rule) => nameBy(rule, labels)).find((name) => name !== undefined);
    if (key === undefined) {
      continue;
    }
    const target = targets.get(key) ?? { labels: {}, online: !down.has(key) };
    const { __name__: _, ...told } = labels;
    Object.assign(target.labels, { ...told, ...target.labels });
    targets.set(key, target);
  }
  return [...targets.values()];
}

/** A shipped rule that gives two targets one name, as clones have it, names neither of them. */
function namesOf(
  targets: readonly Target[],
  rules: readonly NamingRule[],
): ReadonlyMap<Target, { readonly name: string; readonly by: string }> {
  const named = new Map<Target, { name: string; by: string }>();
  for (const rule of rules) {
    const given = new Map<string, Target[]>();
    for (const target of targets) {
      const name = nameBy(rule, target.labels);
      if (name !== undefined) {
        given.set(name, [...(given.get(name) ?? []), target]);
      }
    }
    for (const [name, alike] of given) {
      if (rule.isOwn || alike.length === 1) {
        alike
          .filter((target) => !named.has(target))
          .forEach((target) => named.set(target, { name, by: rule.label }));
      }
    }
  }
  return named;
}

function foundHost(
  name: string,
  by: string,
  targets: readonly Target[],
  seen: ReadonlyMap<string, number>,
): FoundHost {
  const labels: Labels = Object.assign({}, ...targets.map(({ labels: own }) => own));
  const { sysname, release, machine, domainname } = labels;
  const isLinux = release !== undefined;
  const machines = targets.flatMap(({ labels: { instance } }) =>
    instance === undefined ? [] : [machineOf(instance)],
  );
  const instances = targets.flatMap(({ labels: { instance } }) => instance ?? []);
  const times = instances.flatMap((instance) => seen.get(instance) ?? []);
  return {
    name,
    by,
    instances,
    seenAt: times.length === 0 ? undefined : Math.max(...times),
    online: targets.some(({ online }) => online),
    addresses: machines.filter((text) => /^[\d.]+$|:/.test(text)),
    info: {
      ...(isLinux && { os: sysname ?? 'Linux', kernel_version: release }),
      ...(machine !== undefined && domainname !== undefined && { arch: machine }),
      ...addressOf(machines),
    },
  };
}

const addressOf = (machines: readonly string[]): Readonly<Record<string, string>> => {
  const address = machines.find(
    (text) => /^\d+(?:\.\d+){3}$/.test(text) && !text.startsWith('127.'),
  );
  return address === undefined ? {} : { ip_address: address };
};

/** `web-1` of `web-1:9100`. */
const machineOf = (instance: string): string =>
  /^\[?(.+?)\]?(?::\d+)?$/.exec(instance)?.[1] ?? instance;

/** A series without an instance names its host itself, if the host is known. */
function namedIn(
  labels: Labels,
  rules: readonly NamingRule[],
  hosts: ReadonlyMap<string, unknown>,
): string | undefined {
  for (const rule of rules) {
    const name = nameBy(rule, labels);
    if (name !== undefined && hosts.has(name)) {
      return name;
    }
  }
  return undefined;
}
