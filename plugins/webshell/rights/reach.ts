import type { DeviceDirectory, DeviceEntry } from 'svc/contracts/device';
import type { EdgeFleet } from 'svc/contracts/edge';
import type { Handle, Principal, Settings } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import type { Authority } from './authority.ts';

export interface ReachParts {
  readonly devices: Pick<DeviceDirectory, 'get' | 'onlineEdge'>;
  readonly fleet: Handle<EdgeFleet>;
  readonly authority: Pick<Authority, 'seenBy'>;
}

/**
 * Returns how a device can be reached: throws unavailable if it cannot, forbidden if its owner
 * allows no shells, and not found if the asker does not see it.
 */
export async function reach(
  { devices, fleet, authority }: ReachParts,
  asker: Principal,
  deviceId: number,
): Promise<{ device: DeviceEntry; edgeId: number }> {
  const isUnseen = (await authority.seenBy(asker))?.has(deviceId) === false;
  const device = isUnseen ? undefined : await devices.get(deviceId);
  if (!device) {
    throw errors.no_device({ device: deviceId });
  }
  const edgeId = await devices.onlineEdge(deviceId);
  if (edgeId === undefined || !fleet.available) {
    throw errors.device_offline({ device: deviceId });
  }
  if (fleet.get().capabilities(edgeId)?.webshell === false) {
    throw errors.shells_not_allowed({ device: deviceId });
  }
  return { device, edgeId };
}

/**
 * Returns the port of a device's SSH server: its own tag takes precedence over the setting. The
 * edge dials it only if its owner allows that.
 */
export function portOf({ tags }: DeviceEntry, settings: Settings): number {
  const own = tags['ssh_port'];
  if (own === undefined) {
    return settings.get<number>('webshell.ssh_port');
  }
  if (!/^[1-9]\d{0,4}$/.test(own) || Number(own) > 65_535) {
    throw errors.ssh_port_tag({ port: own.slice(0, 32) });
  }
  return Number(own);
}
