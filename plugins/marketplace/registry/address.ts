import { SvcError } from 'svc/sdk';

/** Without TLS anybody on the way could offer something else; this machine is not on a way. */
export const isSecure = (address: string): boolean =>
  /^https:\/\/|^http:\/\/(?:127\.0\.0\.1|localhost)[:/]/.test(address);

/** Whoever may look at a pack or a registry is shown where it comes from. */
export function refuseUser(address: string): void {
  if (
    URL.canParse(address) &&
    (new URL(address).username !== '' || new URL(address).password !== '')
  ) {
    throw new SvcError(
      'invalid_argument',
      'a user or a password in an address would be shown to all who look at it; name it without them',
      {
        reason: 'marketplace.address_with_user',
      },
    );
  }
}
