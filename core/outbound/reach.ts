import { SvcError } from '../sdk/index.ts';
import { type Address, contains, inner, type Network, network, parseAddress, parseNetwork } from './address.ts';

/** Who may be reached: `configured` is the internet and what the setting lists; `loopback` this machine, for a peer that a plugin runs itself. */
export type Reach = 'configured' | 'loopback';

/** Never, whatever is listed: they hand out the machine's own credentials, or are no single host. */
const never: readonly (readonly [string, Network])[] = [
  ['a cloud metadata address', network('169.254.169.254')],
  ['a cloud metadata address', network('169.254.170.0/23')],
  ['a cloud metadata address', network('fd00:ec2::/32')],
  ['a cloud metadata address', network('100.100.100.200')],
  ['the unspecified address', network('0.0.0.0/8')],
  ['the unspecified address', network('::')],
  ['a multicast address', network('224.0.0.0/4')],
  ['a multicast address', network('ff00::/8')],
  ['the broadcast address', network('255.255.255.255')],
];

/** Only where the setting lists them. */
const near: readonly (readonly [string, Network])[] = [
  ['this machine', network('127.0.0.0/8')],
  ['this machine', network('::1')],
  ['a private network', network('10.0.0.0/8')],
  ['a private network', network('172.16.0.0/12')],
  ['a private network', network('192.168.0.0/16')],
  ['a private network', network('100.64.0.0/10')],
  ['a private network', network('fc00::/7')],
  ['a link-local address', network('169.254.0.0/16')],
  ['a link-local address', network('fe80::/10')],
  ['a reserved address', network('192.0.0.0/24')],
  ['a reserved address', network('192.0.2.0/24')],
  ['a reserved address', network('198.18.0.0/15')],
  ['a reserved address', network('198.51.100.0/24')],
  ['a reserved address', network('203.0.113.0/24')],
  ['a reserved address', network('240.0.0.0/4')],
  ['a reserved address', network('2001::/23')],
  ['a reserved address', network('2001:db8::/32')],
  ['a reserved address', network('fec0::/10')],
  ['a reserved address', network('64:ff9b:1::/48')],
];

const loopback = near.slice(0, 2).map(([, net]) => net);

/** Throws unless the address may be reached; the sentence says what it is and which setting would allow it. */
export function requireReach(host: string, text: string, reach: Reach, allowed: readonly Network[]): void {
  const address = parseAddress(text);
  if (address === undefined) {
    throw refused(`${host} is no address that can be checked`);
  }
  const real = inner(address);
  const forbidden = kindIn(never, address) ?? kindIn(never, real);
  if (forbidden !== undefined) {
    throw refused(`${host} leads to ${text}, ${forbidden}, which is never called`);
  }
  if (reach === 'loopback') {
    if (!loopback.some((net) => contains(net, real))) {
      throw refused(`${host} leads to ${text}, which is not this machine`);
    }
    return;
  }
  const kind = kindIn(near, address) ?? kindIn(near, real);
  if (kind !== undefined && !allowed.some((net) => contains(net, real))) {
    throw refused(`${host} leads to ${text}, ${kind}; list it in the setting outbound.allow_private if svc may call it`);
  }
}

export function parseAllowed(list: readonly string[]): readonly Network[] {
  return list.map((text) => {
    const net = parseNetwork(text.trim());
    if (net === undefined) {
      throw new SvcError('invalid_argument', `outbound.allow_private: "${text.slice(0, 60)}" is no address or network such as 10.0.0.0/8`);
    }
    return net;
  });
}

const kindIn = (table: readonly (readonly [string, Network])[], address: Address): string | undefined => table.find(([, net]) => contains(net, address))?.[0];

const refused = (message: string): SvcError => new SvcError('invalid_argument', message);
