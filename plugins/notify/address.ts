import { isSvcError, type Secrets, type Settings, SvcError } from 'svc/sdk';

import type { ChannelAddress, ChannelType } from './contract.ts';
import { standingOf } from './standing.ts';
import type { ChannelRow } from './tables.ts';

/** Stands for a secret that is set; as a new value it means: leave it. */
export const mask = '••••';

/** Opens where channels lead; nothing else ever does. */
export interface Addresses {
  open(row: ChannelRow): ChannelAddress;
  seal(ref: string, address: ChannelAddress): { readonly endpoint: string; readonly secret: string | null };
}

export function createAddresses(secrets: Secrets, settings: Pick<Settings, 'get'>): Addresses {
  const place = (ref: string, column: string) => ({ table: 'notify_channels', row: ref, column });
  return {
    open({ ref, standing, endpoint, secret }) {
      if (standing !== null) {
        const address = standingOf(settings, standing);
        if (address.endpoint === '') {
          throw new SvcError('conflict', `the setting ${standing} is empty, so this channel leads nowhere`);
        }
        return address;
      }
      try {
        return { endpoint: secrets.open(place(ref, 'endpoint'), endpoint ?? ''), secret: secret === null ? '' : secrets.open(place(ref, 'secret'), secret) };
      } catch (error) {
        throw isSvcError(error) ? new SvcError('conflict', 'the address of the channel cannot be opened any more; enter it again', { cause: error }) : error;
      }
    },
    seal: (ref, { endpoint, secret }) => ({
      endpoint: secrets.seal(place(ref, 'endpoint'), endpoint),
      secret: secret === '' ? null : secrets.seal(place(ref, 'secret'), secret),
    }),
  };
}

/** The host, and nothing that could be a key. */
export function shownEndpoint(endpoint: string, type: ChannelType | undefined): string {
  const own = type?.shown?.(endpoint);
  if (own !== undefined) {
    return own;
  }
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  return url === undefined || url.origin === 'null' ? mask : url.pathname === '/' && url.search === '' ? url.origin : `${url.origin}/${mask}`;
}

/** A sentence about a channel without any part of its address that could be a key, whoever put it in. */
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
