import { errors } from './errors.ts';

/** Without TLS anybody on the way could offer something else; this machine is not on a way. */
export const isSecure = (address: string): boolean =>
  /^https:\/\/|^http:\/\/(?:127\.0\.0\.1|localhost)[:/]/.test(address);

/** Whoever may look at a pack or a registry is shown where it comes from. */
export function refuseUser(address: string): void {
  if (
    URL.canParse(address) &&
    (new URL(address).username !== '' || new URL(address).password !== '')
  ) {
    throw errors.address_with_user();
  }
}
