import type { DeviceReports, ReportedDevice, ReportedHost } from 'svc/contracts/device';
import { oneLine, readHostInfo } from 'svc/edge-protocol';
import { type Clock, type Tables } from 'svc/sdk';

import { DeviceStore } from './store/device-store.ts';
import { maxDevices } from './directory.ts';
import { edgeStore } from './store/edge-store.ts';
import { errors } from './errors.ts';
import type { DeviceEvents } from './events.ts';
import { reportedHostStore } from './store/reported-host-store.ts';
import { sameHost, shortOf, tellingAddresses } from './same-host.ts';
import { nameOf } from './shown.ts';
import type { DeviceDb, DeviceRow, DeviceTables } from './store/tables.ts';

export interface ReportsParts {
  readonly tables: Tables<DeviceTables>;
  readonly clock: Clock;
  readonly events: DeviceEvents;
}

/** The last report of a source. */
interface Heard {
  readonly at: number;
  readonly online: ReadonlySet<number>;
  /** Times of the newest samples of its devices. */
  readonly seen: ReadonlyMap<number, number>;
}

/** Time after which a source that says nothing says nothing of its hosts either. */
const silentMs = 180_000;
/** Interval at which the times of hosts that go on are stored. */
const storedMs = 300_000;
const maxName = 253;

/**
 * Devices of hosts that connected stores report. Which device a host is, is stored; who is online
 * is kept in memory, and known again with the next report.
 */
export class Reports implements DeviceReports {
  readonly #tables: Tables<DeviceTables>;
  readonly #clock: Clock;
  readonly #events: DeviceEvents;
  readonly #heard = new Map<string, Heard>();

  constructor({ tables, clock, events }: ReportsParts) {
    this.#tables = tables;
    this.#clock = clock;
    this.#events = events;
  }

  /** Devices that a source reports as online. */
  online(): ReadonlySet<number> {
    const since = this.#clock.now() - silentMs;
    return new Set(
      [...this.#heard.values()]
        .filter(({ at }) => at >= since)
        .flatMap(({ online }) => [...online]),
    );
  }

  /** Returns the time of the newest sample of a device that any source has reported since the start. */
  seenAt(deviceId: number): number | undefined {
    const times = [...this.#heard.values()].flatMap(({ seen }) => seen.get(deviceId) ?? []);
    return times.length === 0 ? undefined : Math.max(...times);
  }

  async match(
    source: string,
    hosts: readonly ReportedHost[],
  ): Promise<ReadonlyMap<string, ReportedDevice>> {
    const { read } = this.#tables;
    return await reportedDevices(read, await known(read, source, named(hosts)));
  }

  async report(
    source: string,
    reported: readonly ReportedHost[],
  ): Promise<ReadonlyMap<string, ReportedDevice>> {
    const { read, write } = this.#tables;
    const hosts = named(reported);
    const before = await known(read, source, hosts);
    const stored = await storedHosts(read, source);
    const isSettled = hosts.every(
      (host) => stored.has(host.name) && !isNews(host, before.get(host.name)),
    );
    const changed = new Set<number>();
    const created = new Set<number>();
    const devices = isSettled
      ? before
      : await write((tx) =>
          settle(tx, { source, hosts, now: this.#clock.now(), changed, created }),
        );
    const answer = await reportedDevices(read, devices);
    this.#hear(source, hosts, devices, changed);
    created.forEach((id) => this.#events.created(id));
    changed.forEach((id) => created.has(id) || this.#events.changed(id));
    await this.#storeTimes(source, hosts);
    return answer;
  }

  async withdraw(source: string): Promise<void> {
    const gone = this.#heard.get(source)?.online ?? [];
    this.#heard.delete(source);
    await this.#tables.write((tx) => reportedHostStore(tx).removeSource(source));
    [...gone].forEach((id) => this.#events.changed(id));
  }

  /** Keeps who is online, and notes those that came or went. */
  #hear(
    source: string,
    hosts: readonly ReportedHost[],
    devices: ReadonlyMap<string, DeviceRow>,
    changed: Set<number>,
  ): void {
    const before = this.#heard.get(source)?.online ?? new Set<number>();
    const online = new Set(
      hosts.filter(({ online: is }) => is).map(({ name }) => devices.get(name)!.id),
    );
    for (const id of [...before, ...online]) {
      if (before.has(id) !== online.has(id)) {
        changed.add(id);
      }
    }
    const now = this.#clock.now();
    const seen = new Map(
      hosts.flatMap((host): [number, number][] => {
        const at = seenAt(host, now);
        return at === undefined ? [] : [[devices.get(host.name)!.id, at]];
      }),
    );
    this.#heard.set(source, { at: now, online, seen });
  }

  async #storeTimes(source: string, hosts: readonly ReportedHost[]): Promise<void> {
    const now = this.#clock.now();
    const seen = new Map(hosts.map((host) => [host.name, seenAt(host, now)]));
    const due = (await reportedHostStore(this.#tables.read).ofSource(source)).flatMap((row) => {
      const at = seen.get(row.host);
      return at !== undefined && at - row.last_seen_at >= storedMs
        ? [{ ...row, last_seen_at: at }]
        : [];
    });
    if (due.length > 0) {
      await this.#tables.write(async (tx) => {
        for (const row of due) {
          await reportedHostStore(tx).put(row);
        }
      });
    }
  }
}

interface Settling {
  readonly source: string;
  readonly hosts: readonly ReportedHost[];
  readonly now: number;
  readonly changed: Set<number>;
  readonly created: Set<number>;
}

/** Inside the write everything is looked at again: an agent may have come in between. */
async function settle(
  tx: DeviceDb,
  { source, hosts, now, changed, created }: Settling,
): Promise<ReadonlyMap<string, DeviceRow>> {
  const devices = new DeviceStore(tx);
  const rows = new Map(await known(tx, source, hosts));
  const stored = await storedHosts(tx, source);
  let total = await devices.count();
  for (const host of hosts) {
    const info = { ...readHostInfo(host.info), hostname: host.name };
    let row = rows.get(host.name);
    if (row === undefined) {
      total += 1;
      if (total > maxDevices) {
        throw errors.too_many({ max: maxDevices });
      }
      row = await devices.insert(
        { ...info, machine_uuid: null, machine_key: null, fingerprint: null },
        now,
        seenAt(host, now) ?? now,
      );
      created.add(row.id);
    } else if (isNews(host, row)) {
      row = await devices.update(row.id, info, now);
      changed.add(row.id);
    }
    rows.set(host.name, row);
    if (!stored.has(host.name)) {
      await reportedHostStore(tx).put({
        source,
        host: host.name,
        device_id: row.id,
        last_seen_at: seenAt(host, now) ?? now,
      });
      changed.add(row.id);
    }
  }
  return rows;
}

/** Returns when a host was last seen. A source that reports no time sees its online hosts now. */
const seenAt = ({ seen_at: at, online }: ReportedHost, now: number): number | undefined =>
  at ?? (online ? now : undefined);

const storedHosts = async (db: DeviceDb, source: string): Promise<ReadonlySet<string>> =>
  new Set((await reportedHostStore(db).ofSource(source)).map(({ host }) => host));

/** Devices of those hosts that are one already. */
async function known(
  db: DeviceDb,
  source: string,
  hosts: readonly ReportedHost[],
): Promise<ReadonlyMap<string, DeviceRow>> {
  const devices = new DeviceStore(db);
  const stored = await reportedHostStore(db).ofSource(source);
  const rows = new Map(
    (await devices.many(stored.map(({ device_id: id }) => id))).map((row) => [row.id, row]),
  );
  const found = new Map<string, DeviceRow>();
  const names = new Set(hosts.map(({ name }) => name));
  for (const { host, device_id: id } of stored) {
    const row = rows.get(id);
    if (row !== undefined && names.has(host)) {
      found.set(host, row);
    }
  }
  const strangers = hosts.filter(({ name }) => !found.has(name));
  if (strangers.length > 0) {
    const meant = await devices.called(
      [...new Set(strangers.flatMap(({ name }) => [name.toLowerCase(), shortOf(name)]))],
      [...new Set(strangers.flatMap(tellingAddresses))],
    );
    for (const host of strangers) {
      const taken = new Set([...found.values()].map(({ id }) => id));
      const row = sameHost(
        host,
        meant.filter(({ id }) => !taken.has(id)),
      );
      if (row !== undefined) {
        found.set(host.name, row);
      }
    }
  }
  return found;
}

async function reportedDevices(
  db: DeviceDb,
  devices: ReadonlyMap<string, DeviceRow>,
): Promise<ReadonlyMap<string, ReportedDevice>> {
  const ids = [...devices.values()].map(({ id }) => id);
  const watched = new Set((await edgeStore(db).watchingAny(ids)).map(({ device_id: id }) => id));
  return new Map(
    [...devices].map(([name, row]) => [
      name,
      { device_id: row.id, display_name: nameOf(row), has_agent: watched.has(row.id) },
    ]),
  );
}

/** Returns whether a report changes its device; one with an agent is described by the agent alone. */
function isNews({ name, info }: ReportedHost, row: DeviceRow | undefined): boolean {
  if (row === undefined) {
    return true;
  }
  const told = { ...readHostInfo(info), hostname: name };
  return (
    row.machine_uuid === null &&
    row.machine_key === null &&
    Object.entries(told).some(([field, value]) => row[field as keyof DeviceRow] !== value)
  );
}

/** Hosts with a name, each name once. */
const named = (hosts: readonly ReportedHost[]): readonly ReportedHost[] => [
  ...new Map(
    hosts
      .map((host) => ({ ...host, name: oneLine(host.name, maxName) }))
      .filter(({ name }) => name !== '')
      .map((host) => [host.name, host]),
  ).values(),
];
