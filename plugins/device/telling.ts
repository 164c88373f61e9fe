import type { PluginContext } from 'svc/sdk';

import { DeviceChanged, DeviceCreated, DeviceRemoved } from './contract.ts';

/** Tells the house, after the commit. */
export interface Telling {
  created(id: number): void;
  changed(id: number | undefined): void;
  removed(id: number, edgeIds: readonly number[]): void;
}

export const createTelling = ({ emit }: PluginContext['events']): Telling => ({
  created: (id) => emit(DeviceCreated, { device_id: id }),
  changed(id) {
    if (id !== undefined) {
      emit(DeviceChanged, { device_id: id });
    }
  },
  removed: (id, edgeIds) => emit(DeviceRemoved, { device_id: id, edge_ids: edgeIds }),
});
