import type { Bound, DeviceDirectory, DeviceEntry, Introduction } from 'svc/contracts/device';
import { readHostInfo } from 'svc/edge-protocol';
import { type Clock, type Logger, type Tables } from 'svc/sdk';

import { answerTo, decide, type Decision, isSettled, type Newcomer, newsOf } from './binding.ts';
import { DeviceStore } from './store/device-store.ts';
import { edgeStore } from './store/edge-store.ts';
import { errors } from './errors.ts';
import type { DeviceEvents } from './events.ts';
import { machineStore } from './store/machine-store.ts';
import { nameOf, rolesOf, tagsOf } from './shown.ts';
import type { DeviceDb, DeviceRow, DeviceTables } from './store/tables.ts';

export interface DirectoryParts {
  readonly tables: Tables<DeviceTables>;
  readonly online: () => ReadonlySet<number>;
  readonly clock: Clock;
  readonly events: DeviceEvents;
  readonly log: Logger;
}

type Conflict = Extract<Decision, { kind: 'conflict' }>;
type Binding = Exclude<Decision, Conflict>;

/** Result of a write, with the events to emit once it is committed. */
interface Settled {
  readonly bound: Bound;
  readonly announce: () => void;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const maxDevices = 50_000;

export class Directory implements DeviceDirectory {
  readonly #tables: Tables<DeviceTables>;
  readonly #online: () => ReadonlySet<number>;
  readonly #clock: Clock;
  readonly #events: DeviceEvents;
  readonly #log: Logger;

  constructor({ tables, online, clock, events, log }: DirectoryParts) {
    this.#tables = tables;
    this.#online = online;
    this.#clock = clock;
    this.#events = events;
    this.#log = log;
  }

  /** A fleet that comes back all at once must not write what is written already. */
  async bind(introduction: Introduction): Promise<Bound> {
    const newcomer = checked(introduction);
    const { read, write } = this.#tables;
    const decision = await decide(newcomer, read, this.#online());
    if (isSettled(decision, await edgeStore(read).find(newcomer.edgeId), newcomer)) {
      return decision.kind === 'conflict'
        ? answerTo(newcomer, decision)
        : await bound(read, (decision as Extract<Decision, { kind: 'bind' }>).device, false);
    }
    const settled = await write((tx) => this.#settle(tx, newcomer));
    settled.announce();
    return settled.bound;
  }

  async release(edgeId: number): Promise<void> {
    const own = await this.#tables.write(async (tx) => {
      const row = await edgeStore(tx).find(edgeId);
      await edgeStore(tx).remove(edgeId);
      return row;
    });
    if (own && own.device_id !== null) {
      this.#events.changed(own.device_id);
    }
  }

  async deviceOf(edgeId: number): Promise<number | undefined> {
    const own = await edgeStore(this.#tables.read).find(edgeId);
    return own?.rival_device_id === null ? (own.device_id ?? undefined) : undefined;
  }

  async onlineEdge(deviceId: number): Promise<number | undefined> {
    const up = this.#online();
    return (await edgeStore(this.#tables.read).watching(deviceId)).find(({ edge_id }) =>
      up.has(edge_id),
    )?.edge_id;
  }

  async get(id: number): Promise<DeviceEntry | undefined> {
    const row = await new DeviceStore(this.#tables.read).find(id);
    return row && entryOf(row);
  }

  async many(ids: readonly number[]): Promise<DeviceEntry[]> {
    return (await new DeviceStore(this.#tables.read).many(ids)).map(entryOf);
  }

  async page(after: number, limit: number): Promise<DeviceEntry[]> {
    return (await new DeviceStore(this.#tables.read).page(after, limit)).map(entryOf);
  }

  /** Inside the write everything is looked at again: another edge may have come in between. */
  async #settle(tx: DeviceDb, newcomer: Newcomer): Promise<Settled> {
    const decision = await decide(newcomer, tx, this.#online());
    return decision.kind === 'conflict'
      ? await this.#settleConflict(tx, newcomer, decision)
      : await this.#settleBinding(tx, newcomer, decision);
  }

  async #settleConflict(tx: DeviceDb, newcomer: Newcomer, decision: Conflict): Promise<Settled> {
    const { edgeId, machine, key } = newcomer;
    const { device, rival, home, reason } = decision;
    const before = await edgeStore(tx).find(edgeId);
    await edgeStore(tx).put({
      edge_id: edgeId,
      machine_uuid: machine,
      machine_key: key ?? null,
      device_id: home,
      bound_at: home === null ? null : (before?.bound_at ?? null),
      rival_edge_id: rival,
      rival_device_id: device,
      rival_since: before?.rival_since ?? this.#clock.now(),
      reason,
    });
    return {
      bound: answerTo(newcomer, decision),
      announce: () => {
        this.#log.warn(
          { event: 'device.machine_taken', edge: edgeId, device, rival_edge: rival, reason },
          'edge not bound to a device: its machine cannot prove its identity; accept the machine as the device, or give it an identity of its own',
        );
        this.#events.changed(device);
      },
    };
  }

  async #settleBinding(tx: DeviceDb, newcomer: Newcomer, decision: Binding): Promise<Settled> {
    const now = this.#clock.now();
    const created = decision.kind === 'create';
    const device = created
      ? await create(tx, newcomer, now)
      : await update(tx, newcomer, decision, now);
    await edgeStore(tx).put({
      edge_id: newcomer.edgeId,
      machine_uuid: newcomer.machine,
      machine_key: newcomer.key ?? null,
      device_id: device.id,
      bound_at: now,
      rival_edge_id: null,
      rival_device_id: null,
      rival_since: null,
      reason: null,
    });
    return {
      bound: await bound(tx, device, created),
      announce: () => (created ? this.#events.created(device.id) : this.#events.changed(device.id)),
    };
  }
}

async function create(
  tx: DeviceDb,
  { machine, key, fingerprint, host }: Newcomer,
  now: number,
): Promise<DeviceRow> {
  const devices = new DeviceStore(tx);
  if ((await devices.count()) >= maxDevices) {
    throw errors.too_many({ max: maxDevices });
  }
  return await devices.insert(
    { ...host, machine_uuid: machine, machine_key: key ?? null, fingerprint: fingerprint ?? null },
    now,
  );
}

async function update(
  tx: DeviceDb,
  newcomer: Newcomer,
  { device, taken }: Extract<Decision, { kind: 'bind' }>,
  now: number,
): Promise<DeviceRow> {
  const devices = new DeviceStore(tx);
  if (taken) {
    await edgeStore(tx).leaveTo(device.id, newcomer.edgeId);
    await machineStore(tx).forgetMachine({
      uuid: newcomer.machine,
      key: newcomer.key ?? null,
      but: device.id,
    });
  }
  return await devices.update(
    device.id,
    { ...newsOf(newcomer, device, taken), last_seen_at: now },
    now,
  );
}

async function bound(db: DeviceDb, device: DeviceRow, created: boolean): Promise<Bound> {
  return {
    status: 'bound',
    device_id: device.id,
    created,
    resembles: await new DeviceStore(db).resembling(device.fingerprint, device.id),
  };
}

const entryOf = (row: DeviceRow): DeviceEntry => ({
  id: row.id,
  display_name: nameOf(row),
  hostname: row.hostname,
  ip_address: row.ip_address,
  tags: tagsOf(row),
  roles: rolesOf(row),
});

/** Checks the introduction, since an agent's report is untrusted. */
function checked({
  edge_id: edgeId,
  machine_uuid: machine,
  machine_key: key,
  takes_device: takes,
  fingerprint,
  host_info: host,
}: Introduction): Newcomer {
  if (!Number.isSafeInteger(edgeId) || edgeId < 1) {
    throw errors.edge_id();
  }
  if (typeof machine !== 'string' || !uuid.test(machine.toLowerCase())) {
    throw errors.machine_uuid();
  }
  if (
    fingerprint !== undefined &&
    (typeof fingerprint !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(fingerprint))
  ) {
    throw errors.fingerprint();
  }
  return {
    edgeId,
    machine: machine.toLowerCase(),
    key,
    takes,
    fingerprint,
    host: readHostInfo(host),
  };
}
