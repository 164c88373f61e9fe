import { byteRoute, type Clock, type RouteDeclaration, type Settings, timestamp } from 'svc/sdk';

import { errors } from './errors.ts';

export interface SecurityTxtParts {
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Address that browsers use for this svc. */
  readonly publicUrl: () => string;
}

const dayMs = 24 * 60 * 60_000;
/** A copy of the file is good for this long; svc itself makes it anew for each request. */
const goodForDays = 30;

/**
 * The file that says whom to tell of a vulnerability of this instance (RFC 9116). It needs a contact, which only who runs the
 * instance knows: without one there is no file.
 */
export const securityTxtRoute = ({
  settings,
  clock,
  publicUrl,
}: SecurityTxtParts): RouteDeclaration =>
  byteRoute({
    method: 'GET',
    access: 'public',
    path: '/.well-known/security.txt',
    summary: 'Get the contact for vulnerability reports about this instance',
    produces: 'text/plain; charset=utf-8',
    errors: ['not_found'],
    handle() {
      const contacts = settings.get<string>('security.contact').split(' ').filter(Boolean);
      if (contacts.length === 0) {
        throw errors.no_contact();
      }
      const url = publicUrl();
      const policy = settings.get<string>('security.policy') || `${url}/docs/security`;
      const expires = Math.ceil(clock.now() / dayMs + goodForDays) * dayMs;
      return [
        ...contacts.map((contact) => `Contact: ${contact}`),
        `Expires: ${timestamp(expires)}`,
        'Preferred-Languages: en',
        // Both must be https, which an address without a proxy in front of it may not be.
        ...[`Canonical: ${url}/.well-known/security.txt`, `Policy: ${policy}`].filter((line) =>
          line.includes(': https://'),
        ),
        '',
      ].join('\n');
    },
  });
