import type { ChannelAddress } from 'svc/contracts/notify';
import type { SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

/** Throws unless the endpoint is a web address; the sentence never repeats it, because it may hold a key. */
export function requireUrl({ endpoint }: ChannelAddress, example: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw wrongEndpoint(`must be an address such as ${example}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw wrongEndpoint(
      'contains a user name or a password, which would be visible with the address',
    );
  }
  return url;
}

export function wrongEndpoint(message: string): SvcError {
  return errors.invalid_endpoint({ message }, { details: [{ path: '/endpoint', message }] });
}

export function wrongSecret(message: string): SvcError {
  return errors.invalid_secret({ message }, { details: [{ path: '/secret', message }] });
}

/** Returns whether a platform may open a link, or let a button lead to it: public names only. */
export const isPublic = (link: string): boolean =>
  URL.canParse(link) &&
  new URL(link).protocol === 'https:' &&
  /\.[a-z]{2,}$/i.test(new URL(link).hostname);

export const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' };
