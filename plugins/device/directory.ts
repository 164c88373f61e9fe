import { readHostInfo } from 'svc/probe';
import { type Clock, type Logger, SvcError, type Tables } from 'svc/sdk';

import { answerTo, decide, type Decision, isSettled, type Newcomer, newsOf } from './binding.ts';
import type { Bound, DeviceDirectory, DeviceEntry, Introduction } from './contract.ts';
import { deviceStore } from './device-store.ts';
import { edgeStore } from './edge-store.ts';
import { nameOf, rolesOf, tagsOf } from './shown.ts';
import type { DeviceDb, DeviceRow, DeviceTables } from './tables.ts';
import type { Telling } from './telling.ts';

export interface DirectoryParts {
  readonly tables: Tables<DeviceTables>;
  readonly online: () => ReadonlySet<number>;
  readonly clock: Clock;
  readonly telling: Telling;
  readonly log: Logger;
  readonly mostDevices?: number;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function createDirectory({ tables, online, clock, telling, log, mostDevices = 50_000 }: DirectoryParts): DeviceDirectory {
  const { read, write } = tables;

  /** A fleet that comes back all at once must not write what is written already. */
  async function bind(newcomer: Newcomer): Promise<Bound> {
    const decision = await decide(newcomer, read, online());
    if (isSettled(decision, await edgeStore(read).find(newcomer.edgeId), newcomer)) {
      return decision.kind === 'conflict' ? answerTo(decision) : await bound(read, (decision as Extract<Decision, { kind: 'bind' }>).device, false);
    }
    const { bound: answer, tell } = await write((tx) => settle(tx, newcomer));
    tell();
    return answer;
  }

  /** Inside the write everything is looked at again: another edge may have come in between. */
  async function settle(tx: DeviceDb, newcomer: Newcomer): Promise<{ bound: Bound; tell: () => void }> {
    const decision = await decide(newcomer, tx, online());
    const edges = edgeStore(tx);
    const now = clock.now();
    const row = { edge_id: newcomer.edgeId, machine_uuid: newcomer.machine };
    if (decision.kind === 'conflict') {
      const { rival, home } = decision;
      const before = await edges.find(newcomer.edgeId);
      await edges.put({
        ...row,
        device_id: home,
        bound_at: home === null ? null : (before?.bound_at ?? null),
        rival_edge_id: rival.edge_id,
        rival_device_id: rival.device_id,
        rival_since: before?.rival_since ?? now,
      });
      return {
        bound: answerTo(decision),
        tell() {
          log.warn({ edge: newcomer.edgeId, device: rival.device_id, rival: rival.edge_id }, `edge ${newcomer.edgeId} watches no device: ${decision.reason}`);
          telling.changed(rival.device_id);
        },
      };
    }
    const device = decision.kind === 'create' ? await create(tx, newcomer, now) : await update(tx, newcomer, decision, now);
    await edges.put({ ...row, device_id: device.id, bound_at: now, rival_edge_id: null, rival_device_id: null, rival_since: null });
    const created = decision.kind === 'create';
    return { bound: await bound(tx, device, created), tell: () => (created ? telling.created(device.id) : telling.changed(device.id)) };
  }

  async function create(tx: DeviceDb, { machine, fingerprint, host }: Newcomer, now: number): Promise<DeviceRow> {
    const devices = deviceStore(tx);
    if ((await devices.count()) >= mostDevices) {
      throw new SvcError('conflict', `there are ${mostDevices} devices already, and no more fit; remove some that are gone`);
    }
    return await devices.insert({ ...host, machine_uuid: machine, fingerprint: fingerprint ?? null }, now);
  }

  async function update(tx: DeviceDb, newcomer: Newcomer, { device, usurped }: Extract<Decision, { kind: 'bind' }>, now: number): Promise<DeviceRow> {
    const devices = deviceStore(tx);
    if (usurped !== undefined) {
      await devices.forgetMachine(usurped);
    }
    return await devices.update(device.id, { ...newsOf(newcomer, device), last_seen_at: now }, now);
  }

  return {
    bind: async (introduction) => await bind(checked(introduction)),

    async release(edgeId) {
      const own = await write(async (tx) => {
        const found = await edgeStore(tx).find(edgeId);
        await edgeStore(tx).remove(edgeId);
        return found;
      });
      telling.changed(own?.device_id ?? undefined);
    },

    async deviceOf(edgeId) {
      const own = await edgeStore(read).find(edgeId);
      return own?.rival_device_id === null ? (own.device_id ?? undefined) : undefined;
    },

    async onlineEdge(deviceId) {
      const up = online();
      return (await edgeStore(read).watching(deviceId)).find(({ edge_id }) => up.has(edge_id))?.edge_id;
    },

    async get(id) {
      const row = await deviceStore(read).find(id);
      return row && entryOf(row);
    },
    many: async (ids) => (await deviceStore(read).many(ids)).map(entryOf),
    page: async (after, limit) => (await deviceStore(read).page(after, limit)).map(entryOf),
  };
}

async function bound(db: DeviceDb, device: DeviceRow, created: boolean): Promise<Bound> {
  return { status: 'bound', device_id: device.id, created, resembles: await deviceStore(db).resembling(device.fingerprint, device.id) };
}

const entryOf = (row: DeviceRow): DeviceEntry => ({
  id: row.id,
  display_name: nameOf(row),
  hostname: row.hostname,
  tags: tagsOf(row),
  roles: rolesOf(row),
});

/** What an agent says of itself is an outsider's word. */
function checked({ edge_id: edgeId, machine_uuid: machine, fingerprint, host_info: host }: Introduction): Newcomer {
  if (!Number.isSafeInteger(edgeId) || edgeId < 1) {
    throw new SvcError('invalid_argument', 'edge_id is not the id of an edge');
  }
  if (typeof machine !== 'string' || !uuid.test(machine.toLowerCase())) {
    throw new SvcError('invalid_argument', 'machine_uuid is not a UUID');
  }
  if (fingerprint !== undefined && (typeof fingerprint !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(fingerprint))) {
    throw new SvcError('invalid_argument', 'fingerprint is not a word of at most 200 characters');
  }
  return { edgeId, machine: machine.toLowerCase(), fingerprint, host: readHostInfo(host) };
}
