import type { Identity } from 'svc/contracts/edge-uplink';
import type { SvcError } from 'svc/sdk';
import { belowManager } from 'svc/tunnel';

import { errors } from './errors.ts';

/** Location of a package, with the credentials of each side. */
export interface Source {
  readonly url: URL;
  /** Base URL of the manager, for which `authorization` is valid. */
  readonly manager?: string;
  /** Credentials for the manager only: no other server receives the keys of this edge. */
  readonly authorization?: string | undefined;
  readonly pin?: string | undefined;
  readonly ca?: string | undefined;
  readonly proxy?: string | undefined;
}

/** A path of the manager, an address of the manager, or any other by https. */
export function sourceOf(
  address: string,
  { manager, access_key, secret_key, pin, ca, proxy }: Identity,
): Source {
  if (!URL.canParse(address, manager)) {
    throw refusal(`"${address.slice(0, 200)}" is not an address`);
  }
  const url =
    address.startsWith('/') && !address.startsWith('//')
      ? belowManager(manager, address)
      : new URL(address, manager);
  if (url.username !== '' || url.password !== '') {
    throw refusal('an address must not contain a user name and a password');
  }
  if (isOf(url, manager)) {
    return {
      url,
      manager,
      authorization: `Basic ${Buffer.from(`${access_key}:${secret_key}`).toString('base64')}`,
      pin,
      ca,
      proxy,
    };
  }
  if (url.protocol !== 'https:') {
    throw refusal(`${url.origin} is neither the manager of this machine nor reached by https`);
  }
  return { url, proxy };
}

/**
 * Returns whether a URL belongs to the manager. If the manager is served below a path, its host
 * serves others as well, who receive no keys.
 */
const isOf = ({ origin, pathname }: URL, manager: string): boolean =>
  origin === new URL(manager).origin && pathname.startsWith(belowManager(manager, '/').pathname);

/** Returns the target of a redirect, which must stay on the same host. */
export function redirected(source: Source, location: string | undefined): Source {
  const url =
    location !== undefined && URL.canParse(location, source.url.href)
      ? new URL(location, source.url)
      : undefined;
  if (url?.origin !== source.url.origin) {
    throw refusal(
      `${source.url.host} redirects to ${url === undefined ? 'no valid address' : url.host}; redirects to other hosts are not followed`,
    );
  }
  if (source.manager !== undefined && !isOf(url, source.manager)) {
    throw refusal(`${source.url.host} redirects to a path outside the manager`);
  }
  return { ...source, url };
}

const refusal = (message: string): SvcError => errors.package_address({ message });
