import type { ReportedHost } from 'svc/contracts/device';

import type { DeviceRow } from './store/tables.ts';

/** Addresses that every machine has. */
const ownOfAny = /^(?:127\.|::1$|0\.0\.0\.0$|169\.254\.)/;

export const shortOf = (name: string): string => name.toLowerCase().split('.', 1)[0]!;

/** Addresses by which one machine can be told from another. */
export const tellingAddresses = ({ addresses }: Pick<ReportedHost, 'addresses'>): string[] =>
  addresses.filter((address) => !ownOfAny.test(address));

/**
 * Returns the device that a reported host is: by its host name, with or without the domain, else by
 * its address, else by the name that a person gave it. Where several are meant the address decides;
 * undefined: none is, or it cannot be told which.
 */
export function sameHost(host: ReportedHost, devices: readonly DeviceRow[]): DeviceRow | undefined {
  const name = host.name.toLowerCase();
  const addresses = new Set(tellingAddresses(host));
  const isThere = ({ ip_address: address }: DeviceRow): boolean =>
    address !== null && addresses.has(address);
  const ways: readonly ((device: DeviceRow) => boolean)[] = [
    ({ hostname }) => hostname?.toLowerCase() === name,
    ({ hostname }) => hostname !== null && isSameName(hostname.toLowerCase(), name),
    isThere,
    ({ display_name: given }) => given?.toLowerCase() === name,
  ];
  for (const fits of ways) {
    const found = devices.filter(fits);
    if (found.length > 0) {
      const near = found.length === 1 ? found : found.filter(isThere);
      return near.length === 1 ? near[0] : undefined;
    }
  }
  return undefined;
}

/** `web-1` and `web-1.example.org` are one host; two with different domains are not, and no address is a name. */
function isSameName(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return !short.includes('.') && !/^[\d.:]+$/.test(short) && long.startsWith(`${short}.`);
}
