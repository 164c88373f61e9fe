import type { ChannelAddress, ChannelType } from 'svc/contracts/notify';
import { isSvcError, type Secrets, type Settings } from 'svc/sdk';

import { errors } from './errors.ts';
import { addressOfSetting } from './settings-channels.ts';
import type { ChannelRow } from '../store/tables.ts';

/** Stands for a secret that is set; as a new value it means: leave it. */
export const mask = '••••';

const placeOf = (ref: string, column: 'endpoint' | 'secret') => ({
  table: 'notify_channels',
  row: ref,
  column,
});

/** Opens where channels lead; no other code does. */
export class Addresses {
  readonly #secrets: Secrets;
  readonly #settings: Pick<Settings, 'get'>;

  constructor(secrets: Secrets, settings: Pick<Settings, 'get'>) {
    this.#secrets = secrets;
    this.#settings = settings;
  }

  open({ ref, standing: setting, endpoint, secret }: ChannelRow): ChannelAddress {
    if (setting !== null) {
      const address = addressOfSetting(this.#settings, setting);
      if (address.endpoint === '') {
        throw errors.no_address({ setting });
      }
      return address;
    }
    try {
      return {
        endpoint: this.#secrets.open(placeOf(ref, 'endpoint'), endpoint ?? ''),
        secret: secret === null ? '' : this.#secrets.open(placeOf(ref, 'secret'), secret),
      };
    } catch (error) {
      throw isSvcError(error) ? errors.sealed_address({ cause: error }) : error;
    }
  }

  seal(
    ref: string,
    { endpoint, secret }: ChannelAddress,
  ): { readonly endpoint: string; readonly secret: string | null } {
    return {
      endpoint: this.#secrets.seal(placeOf(ref, 'endpoint'), endpoint),
      secret: secret === '' ? null : this.#secrets.seal(placeOf(ref, 'secret'), secret),
    };
  }
}

/** The host, and nothing that could be a key. */
export function shownEndpoint(endpoint: string, type: ChannelType | undefined): string {
  const own = type?.shown?.(endpoint);
  if (own !== undefined) {
    return own;
  }
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  return url === undefined || url.origin === 'null'
    ? mask
    : url.pathname === '/' && url.search === ''
      ? url.origin
      : `${url.origin}/${mask}`;
}

/** A sentence about a channel without any part of its address that could be a key. */
export function withoutKeys(text: string, { endpoint, secret }: ChannelAddress): string {
  const parts = new Set([secret, endpoint]);
  if (URL.canParse(endpoint)) {
    const { pathname, searchParams } = new URL(endpoint);
    [pathname, ...pathname.split('/'), ...searchParams.values()].forEach((part) => parts.add(part));
  }
  return [...parts]
    .filter((part) => part.length >= shortestKey)
    .sort((a, b) => b.length - a.length)
    .reduce((safe, part) => safe.replaceAll(part, mask), text);
}

const shortestKey = 8;
