import { defineEvent } from 'svc/sdk';

/** By their ids: the room of the devices may be away. */
export const DeviceRemoved = defineEvent<{ readonly device_id: number; readonly edge_ids: readonly number[] }>('device.removed');
export const DeviceChanged = defineEvent<{ readonly device_id: number }>('device.changed');
