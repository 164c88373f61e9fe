import type { DeviceDirectory, DeviceEntry } from 'svc/contracts/device';
import type { EdgeFleet } from 'svc/contracts/edge';
import { type Handle, type Principal, type Settings, SvcError } from 'svc/sdk';

import type { Authority } from './authority.ts';

export interface ReachParts {
  readonly devices: Pick<DeviceDirectory, 'get' | 'onlineEdge'>;
  readonly fleet: Handle<EdgeFleet>;
  readonly authority: Pick<Authority, 'seenBy'>;
}

/** Where a device can be reached: unavailable when it cannot, forbidden when its owner allows no shells; one that the asker does not see is not there. */
export async function reach(
  { devices, fleet, authority }: ReachParts,
  asker: Principal,
  deviceId: number,
): Promise<{ device: DeviceEntry; edgeId: number }> {
  const isUnseen = (await authority.seenBy(asker))?.has(deviceId) === false;
  const device = isUnseen ? undefined : await devices.get(deviceId);
  if (!device) {
    throw new SvcError('not_found', `there is no device ${deviceId}`);
  }
  const edgeId = await devices.onlineEdge(deviceId);
  if (edgeId === undefined || !fleet.available) {
    throw new SvcError(
      'unavailable',
      `device ${deviceId} is offline: no edge that watches it is connected`,
    );
  }
  if (fleet.get().capabilities(edgeId)?.webshell === false) {
    throw new SvcError(
      'forbidden',
      `the owner of device ${deviceId} allows no shells: "webshell" of policy.yaml is false on its edge`,
    );
  }
  return { device, edgeId };
}

/** Where the SSH server of a device listens: its own tag goes before what holds for all. The edge dials it only when its owner allows that. */
export function portOf({ tags }: DeviceEntry, settings: Settings): number {
  const own = tags['ssh_port'];
  if (own === undefined) {
    return settings.get<number>('webshell.ssh_port');
  }
  if (!/^[1-9]\d{0,4}$/.test(own) || Number(own) > 65_535) {
    throw new SvcError(
      'invalid_argument',
      `the tag ssh_port of this device is "${own.slice(0, 32)}"; it must be a port from 1 to 65535`,
    );
  }
  return Number(own);
}
