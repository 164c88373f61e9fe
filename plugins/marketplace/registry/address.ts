import { errors } from './errors.ts';

/**
 * Returns whether an address is tamper-proof: without TLS anybody on the way could offer something
 * else, except on this host.
 */
export const isSecure = (address: string): boolean =>
  /^https:\/\/|^http:\/\/(?:127\.0\.0\.1|localhost)[:/]/.test(address);

/** Refuses credentials in an address, since it is shown to whoever may see the pack or registry. */
export function refuseUser(address: string): void {
  if (
    URL.canParse(address) &&
    (new URL(address).username !== '' || new URL(address).password !== '')
  ) {
    throw errors.address_with_user();
  }
}
