import { DeviceChanged, DeviceCreated, DeviceRemoved } from 'svc/contracts/device';
import type { PluginContext } from 'svc/sdk';

type Bus = Pick<PluginContext['events'], 'emit'>;

/** What the other plugins hear of devices, after the commit. */
export class DeviceEvents {
  readonly #bus: Bus;
  readonly #before: () => void;

  /** `before`: called before each of them is told, so that who hears of it asks anew. */
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
