import { DeviceChanged, DeviceCreated, DeviceRemoved } from 'svc/contracts/device';
import type { PluginContext } from 'svc/sdk';

type Bus = Pick<PluginContext['events'], 'emit'>;

/** Events about devices for other plugins, emitted after the commit. */
export class DeviceEvents {
  readonly #bus: Bus;
  readonly #before: () => void;

  /** Takes a callback `before` each event, so that its recipients query fresh state. */
  constructor(bus: Bus, before: () => void) {
    this.#bus = bus;
    this.#before = before;
  }

  created(id: number): void {
    this.#before();
    this.#bus.emit(DeviceCreated, { device_id: id });
  }

  changed(id: number): void {
    this.#before();
    this.#bus.emit(DeviceChanged, { device_id: id });
  }

  removed(id: number, edgeIds: readonly number[]): void {
    this.#before();
    this.#bus.emit(DeviceRemoved, { device_id: id, edge_ids: edgeIds });
  }
}
