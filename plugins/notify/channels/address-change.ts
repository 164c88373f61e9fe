import type { ChannelAddress, ChannelType } from 'svc/contracts/notify';

import { errors } from './errors.ts';
import { type Addresses, mask } from './address.ts';
import type { Shown } from './channel.ts';
import type { ChannelWithState } from '../store/channel-store.ts';
import type { Draft } from './schema.ts';
import { wrongEndpoint, wrongSecret } from '../types/hook-address.ts';

/** An address without a mask in it, fit for its type. */
export function typedAddress(
  { endpoint: given, secret: key }: Pick<Draft, 'endpoint' | 'secret'>,
  type: ChannelType,
): ChannelAddress {
  const address = { endpoint: given.trim(), secret: key ?? '' };
  if (address.endpoint.includes(mask)) {
    throw wrongEndpoint('is masked; enter it in full');
  }
  if (address.secret.includes(mask)) {
    throw wrongSecret('is masked; enter it in full');
  }
  if (type.secret === 'none' && address.secret !== '') {
    throw wrongSecret(`must be empty: channels of ${type.title} have none`);
  }
  if (type.secret === 'required' && address.secret === '') {
    throw wrongSecret(`is required for a channel of ${type.title}`);
  }
  type.check(address);
  return address;
}

/** The address that replaces the stored one; undefined: that stays. No secret goes to an endpoint that was typed without it. */
export function replacedAddress(
  row: ChannelWithState,
  draft: Draft,
  { id, type }: { readonly id: string; readonly type: ChannelType },
  addresses: Addresses,
): ChannelAddress | undefined {
  const sameEndpoint = draft.endpoint === mask || draft.endpoint === row.endpoint_shown;
  const sameSecret = draft.secret === undefined || draft.secret === mask;
  if (
    sameEndpoint &&
    id === row.channel_type &&
    (sameSecret || (draft.secret === null && row.secret === null))
  ) {
    return undefined;
  }
  // What is stored is only opened when it is needed: it may be what no key opens any more.
  const none = sameSecret && row.secret === null;
  if (id !== row.channel_type || (!sameEndpoint && (none || !sameSecret))) {
    return typedAddress(none && draft.secret === mask ? { ...draft, secret: null } : draft, type);
  }
  const known = addresses.open(row);
  const endpoint = sameEndpoint ? known.endpoint : draft.endpoint;
  if (sameSecret && known.secret !== '' && endpoint !== known.endpoint) {
    throw wrongSecret(
      'must be entered again when the endpoint changes, so that it is not sent to the wrong address',
    );
  }
  return typedAddress(
    { ...draft, endpoint, secret: sameSecret ? known.secret : (draft.secret ?? null) },
    type,
  );
}

export function assertAddressOfSetting(
  setting: string,
  before: Shown,
  draft: Draft,
  typeId: string,
): void {
  const same =
    typeId === before.channel_type &&
    (draft.endpoint === mask || draft.endpoint === before.endpoint) &&
    (draft.secret === undefined || draft.secret === before.secret || draft.secret === mask);
  if (!same) {
    throw errors.address_of_setting({ setting });
  }
}
