import { DeviceChanged, type DeviceDirectory, DeviceRemoved } from 'svc/contracts/device';
import type { Handle, PluginContext, Tables } from 'svc/sdk';

import { edgeStore } from '../record/edge-store.ts';
import type { EdgeTable } from '../record/edge-table.ts';
import type { EdgeRecord } from '../record/record.ts';
import type { EdgeTables } from '../record/tables.ts';

export interface DeviceBindingParts {
  readonly edgeTable: EdgeTable;
  readonly tables: Tables<EdgeTables>;
  readonly devices: Handle<DeviceDirectory>;
}

/** Which device each edge watches, as far as the devices change that and not the edge itself. */
export class DeviceBindings {
  readonly #parts: DeviceBindingParts;
  /**
   * Devices that may have lost an edge; queried in one pass, because a reconnecting fleet changes
   * all of them.
   */
  readonly #changed = new Set<number>();

  constructor(parts: DeviceBindingParts) {
    this.#parts = parts;
  }

  follow(
    events: Pick<PluginContext['events'], 'on'>,
    guarded: (task: string, work: () => Promise<void>) => () => Promise<void>,
  ): void {
    events.on(DeviceChanged, ({ device_id: deviceId }) => void this.#changed.add(deviceId));
    events.on(DeviceRemoved, ({ device_id: deviceId }) =>
      guarded('unbind the edges of a removed device', () => this.#unbind(deviceId))(),
    );
  }

  /** Asks the directory about the devices that changed. */
  async refresh(): Promise<void> {
    const { edgeTable, devices } = this.#parts;
    const asked = new Set(this.#changed);
    this.#changed.clear();
    for (const record of asked.size === 0 || !devices.available ? [] : edgeTable.all()) {
      const { deviceId: known, deviceReason: reason } = record;
      // One that is online introduces itself, unless it waits for a person to say which device it is.
      if (known === null ? reason !== null : record.tunnel === undefined && asked.has(known)) {
        const deviceId = (await devices.get().deviceOf(record.id)) ?? null;
        if (deviceId !== known && record.deviceId === known) {
          await this.#put(
            record,
            deviceId,
            deviceId === null
              ? `it was detached from device ${known}, and will be matched again when it connects`
              : null,
          );
        }
      }
    }
  }

  async #put(record: EdgeRecord, deviceId: number | null, reason: string | null): Promise<void> {
    await this.#parts.tables.write((tx) =>
      edgeStore(tx).observe(record.id, { device_id: deviceId, device_reason: reason }),
    );
    record.deviceId = deviceId;
    record.deviceReason = reason;
  }

  async #unbind(deviceId: number): Promise<void> {
    const { edgeTable, tables } = this.#parts;
    const reason = `device ${deviceId} was removed; it gets another when it connects next`;
    await tables.write((tx) => edgeStore(tx).leaveDevice(deviceId, reason));
    for (const record of edgeTable.all()) {
      if (record.deviceId === deviceId) {
        record.deviceId = null;
        record.deviceReason = reason;
      }
    }
  }
}
