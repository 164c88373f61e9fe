import type { PluginContext } from 'svc/sdk';

import { DeviceChanged, DeviceCreated, DeviceRemoved } from './contract.ts';

type Bus = Pick<PluginContext['events'], 'emit'>;

/** What the other plugins hear of devices, after the commit. */
export class DeviceEvents {
  readonly #bus: Bus;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  created(id: number): void {
    this.#bus.emit(DeviceCreated, { device_id: id });
  }

  changed(id: number): void {
    this.#bus.emit(DeviceChanged, { device_id: id });
  }

  removed(id: number, edgeIds: readonly number[]): void {
    this.#bus.emit(DeviceRemoved, { device_id: id, edge_ids: edgeIds });
  }
}
