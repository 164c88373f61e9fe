import type { DeviceDetails, DeviceDetailSource } from 'svc/contracts/device';
import type { EdgeFleet } from 'svc/contracts/edge';
import type { ScopeSource, DeviceScope } from 'svc/query';
import {
  type Call,
  type Clock,
  type MaybePromise,
  type OpenPoint,
  type Page,
  type PageRequest,
  type Principal,
  type Tables,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { type DeviceFilter, DeviceStore } from './store/device-store.ts';
import { edgeStore } from './store/edge-store.ts';
import { errors } from './errors.ts';
import type { DeviceEvents } from './events.ts';
import { machineStore } from './store/machine-store.ts';
import { reportedHostStore } from './store/reported-host-store.ts';
import type { Reports } from './reports.ts';
import type { DevicePatch } from './schema.ts';
import { type ShownDevice, shownDevice, type ShownEdge, shownEdge } from './shown.ts';
import type { DeviceDb, DeviceRow, DeviceTables } from './store/tables.ts';

/** Context of a change, from the call that requests it. */
type Actor = Pick<Call, 'requireMatch' | 'note' | 'principal'>;

/** Edges as far as devices show them. */
export type EdgePresence = Pick<EdgeFleet, 'online' | 'present' | 'get' | 'list'>;

export interface DevicesParts {
  readonly tables: Tables<DeviceTables>;
  readonly scopes: ScopeSource;
  readonly fleet: EdgePresence;
  readonly reports: Pick<Reports, 'online' | 'seenAt'>;
  /** Details from other plugins. */
  readonly details: Pick<OpenPoint<DeviceDetailSource>, 'gatherAsync'>;
  readonly clock: Clock;
  readonly events: DeviceEvents;
}

/** The devices as people see and change them. */
export class Devices {
  readonly #tables: Tables<DeviceTables>;
  readonly #scopes: ScopeSource;
  readonly #fleet: EdgePresence;
  readonly #reports: DevicesParts['reports'];
  readonly #details: DevicesParts['details'];
  readonly #clock: Clock;
  readonly #events: DeviceEvents;

  constructor({ tables, scopes, fleet, reports, details, clock, events }: DevicesParts) {
    this.#tables = tables;
    this.#scopes = scopes;
    this.#fleet = fleet;
    this.#reports = reports;
    this.#details = details;
    this.#clock = clock;
    this.#events = events;
  }

  async list(
    asker: Principal,
    filter: DeviceFilter,
    page: PageRequest,
  ): Promise<Page<ShownDevice>> {
    const { read } = this.#tables;
    const scope = await this.#scopeOf(asker);
    const { items, ...rest } = await new DeviceStore(read).list(
      { ...filter, scope },
      { edges: this.#fleet.present(), devices: this.#reports.online() },
      page,
    );
    return { ...rest, items: await this.#shown(items, read) };
  }

  async get(asker: Principal, id: number): Promise<ShownDevice> {
    const { read } = this.#tables;
    return await this.#shownOne(await this.#found(asker, id, read), read);
  }

  update(
    by: Actor,
    id: number,
    { display_name: name, tags }: Static<typeof DevicePatch>,
  ): Promise<ShownDevice> {
    return this.#change(by, id, async (tx) => {
      const devices = new DeviceStore(tx);
      if (tags !== undefined) {
        await devices.putTags(id, tags);
      }
      return await devices.update(
        id,
        {
          ...(name !== undefined && { display_name: name === null ? null : name.trim() }),
          ...(tags !== undefined && { tags: JSON.stringify(tags) }),
        },
        this.#clock.now(),
      );
    });
  }

  setRoles(by: Actor, id: number, roles: readonly string[]): Promise<ShownDevice> {
    return this.#change(by, id, async (tx) => {
      const devices = new DeviceStore(tx);
      await devices.putRoles(id, roles);
      return await devices.update(id, { roles: JSON.stringify(roles) }, this.#clock.now());
    });
  }

  async remove(by: Actor, id: number): Promise<void> {
    const edgeIds = await this.#tables.write(async (tx) => {
      const before = await this.#shownOne(await this.#found(by.principal, id, tx), tx);
      by.requireMatch(before);
      const edges = await edgeStore(tx).watching(id);
      const up = this.#fleet.online();
      const live = edges.find(({ edge_id }) => up.has(edge_id));
      if (live !== undefined) {
        throw errors.watched({ edge: live.edge_id, id });
      }
      if (this.#reports.online().has(id)) {
        throw errors.reported({ id, source: before.reported_by.join(', ') });
      }
      await new DeviceStore(tx).remove(id);
      await edgeStore(tx).removeIdle();
      by.note({ before });
      return edges.map(({ edge_id }) => edge_id);
    });
    this.#events.removed(id, edgeIds);
  }

  /** `openly`: with the identities of the machines, which are for those who tell machines apart. */
  async edges(
    asker: Principal,
    id: number,
    page: PageRequest,
    openly = false,
  ): Promise<Page<ShownEdge>> {
    const { read } = this.#tables;
    await this.#found(asker, id, read);
    const { items, ...rest } = await edgeStore(read).around(id, page);
    return { ...rest, items: items.map((row) => shownEdge(row, this.#fleet, openly)) };
  }

  /** Takes an edge off: the next time it introduces itself it is looked at as if for the first time. */
  async detach(by: Actor, id: number, edgeId: number): Promise<void> {
    await this.#tables.write(async (tx) => {
      await this.#found(by.principal, id, tx);
      const row = await edgeStore(tx).find(edgeId);
      if (row === undefined || (row.device_id !== id && row.rival_device_id !== id)) {
        throw errors.not_around({ edge: edgeId, id });
      }
      if (row.rival_device_id === null && this.#fleet.online().has(edgeId)) {
        throw errors.edge_online({ edge: edgeId, id });
      }
      await edgeStore(tx).remove(edgeId);
      by.note({
        resourceType: 'device',
        resourceId: id,
        before: shownEdge(row, this.#fleet, true),
      });
    });
    this.#events.changed(id);
  }

  /** The machine behind this edge, which could not prove it, is the device from now on: a person says so. */
  async accept(by: Actor, id: number, edgeId: number): Promise<ShownDevice> {
    const after = await this.#tables.write(async (tx) => {
      const device = await this.#found(by.principal, id, tx);
      const [edges, devices, up] = [edgeStore(tx), new DeviceStore(tx), this.#fleet.online()];
      const claim = await edges.find(edgeId);
      if (claim?.rival_device_id !== id) {
        throw errors.no_claim({ edge: edgeId, id });
      }
      const live = (await edges.watching(id)).find(
        ({ edge_id: other }) => other !== edgeId && up.has(other),
      );
      if (live) {
        throw errors.edge_online({ edge: live.edge_id, id });
      }
      const now = this.#clock.now();
      const { machine_uuid: uuid, machine_key: key } = claim;
      const before = (await edges.watching(id)).map(({ edge_id: other }) => other);
      await edges.leaveTo(id, edgeId);
      await edges.put({
        ...claim,
        device_id: id,
        bound_at: now,
        rival_edge_id: null,
        rival_device_id: null,
        rival_since: null,
        reason: null,
      });
      await machineStore(tx).forgetMachine({ uuid, key, but: id });
      const row = await devices.update(id, { machine_uuid: uuid, machine_key: key }, now);
      by.note({
        resourceType: 'device',
        resourceId: id,
        before: {
          watched_by: before,
          machine_uuid: device.machine_uuid,
          machine_key: device.machine_key,
        },
        after: { watched_by: [edgeId], machine_uuid: uuid, machine_key: key },
      });
      return await this.#shownOne(row, tx);
    });
    this.#events.changed(id);
    return after;
  }

  async #change(
    by: Actor,
    id: number,
    work: (tx: DeviceDb) => Promise<DeviceRow>,
  ): Promise<ShownDevice> {
    const after = await this.#tables.write(async (tx) => {
      const before = await this.#shownOne(await this.#found(by.principal, id, tx), tx);
      by.requireMatch(before);
      const result = await this.#shownOne(await work(tx), tx);
      by.note({ before, after: result });
      return result;
    });
    this.#events.changed(id);
    return after;
  }

  /** Returns these rows as devices, in their order. */
  shownAll(rows: readonly DeviceRow[]): Promise<ShownDevice[]> {
    return this.#shown(rows, this.#tables.read);
  }

  async #shown(rows: readonly DeviceRow[], db: DeviceDb): Promise<ShownDevice[]> {
    const ids = rows.map(({ id }) => id);
    const [present, reported] = [this.#fleet.present(), this.#reports.online()];
    const [edges, details] = [await edgeStore(db).watchingAny(ids), await this.#detailsOf(ids)];
    const reports = await reportedHostStore(db).ofDevices(ids);
    return rows.map((row) => {
      const own = edges
        .filter(({ device_id }) => device_id === row.id)
        .map(({ edge_id }) => edge_id);
      const seen = own.map((edge) => this.#fleet.get(edge)?.last_seen_at ?? 0);
      const told = reports.filter(({ device_id }) => device_id === row.id);
      const lastSeenAt = Math.max(
        row.last_seen_at,
        ...seen,
        ...told.map(({ last_seen_at: at }) => at),
        this.#reports.seenAt(row.id) ?? 0,
      );
      return shownDevice(row, {
        online: own.some((edge) => present.has(edge)) || reported.has(row.id),
        lastSeenAt,
        reportedBy: [...new Set(told.map(({ source }) => source))],
        details: details.get(row.id) ?? {},
      });
    });
  }

  async #shownOne(row: DeviceRow, db: DeviceDb): Promise<ShownDevice> {
    return (await this.#shown([row], db))[0]!;
  }

  async #detailsOf(ids: readonly number[]): Promise<ReadonlyMap<number, DeviceDetails>> {
    const known = new Map<number, DeviceDetails>();
    const found = await this.#details.gatherAsync(async ({ value }) => [
      ...(await value.detailsOf(ids)),
    ]);
    for (const [id, details] of found.flat()) {
      known.set(id, { ...known.get(id), ...details });
    }
    return known;
  }

  #scopeOf({ selectors }: Principal): MaybePromise<DeviceScope | undefined> {
    return selectors === undefined ? undefined : this.#scopes.of(selectors);
  }

  /** Returns a device; one outside the asker's scope counts as not found. */
  async #found(asker: Principal, id: number, db: DeviceDb): Promise<DeviceRow> {
    const scope = await this.#scopeOf(asker);
    const row = scope?.ids.has(id) === false ? undefined : await new DeviceStore(db).find(id);
    if (row === undefined) {
      throw errors.no_device({ id });
    }
    return row;
  }
}
