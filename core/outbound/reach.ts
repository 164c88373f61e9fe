import {
  type Address,
  contains,
  inner,
  type Network,
  network,
  parseAddress,
  parseNetwork,
} from './address.ts';
import { errors } from './errors.ts';

/**
 * Reach of a request: `configured` is the internet and what the setting lists; `loopback` this
 * machine, for a peer that a plugin runs itself.
 */
export type Reach = 'configured' | 'loopback';

type Kinds = readonly (readonly [string, Network])[];

const all = (kind: string, ...networks: readonly string[]): Kinds =>
  networks.map((text) => [kind, network(text)]);

/** Never, whatever is listed: they hand out the machine's own credentials, or are no single host. */
const never: Kinds = [
  ...all(
    'a cloud metadata address',
    '169.254.169.254',
    '169.254.170.0/23',
    'fd00:ec2::/32',
    '100.100.100.200',
    '168.63.129.16',
  ),
  ...all('the unspecified address', '0.0.0.0/8', '::'),
  ...all('a multicast address', '224.0.0.0/4', 'ff00::/8'),
  ...all('the broadcast address', '255.255.255.255'),
];

/** Networks that the setting must list explicitly. */
const near: Kinds = [
  ...all('this machine', '127.0.0.0/8', '::1'),
  ...all(
    'a private network',
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    'fc00::/7',
  ),
  ...all('a link-local address', '169.254.0.0/16', 'fe80::/10'),
  ...all(
    'a reserved address',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
  ),
  ...all('a reserved address', '2001::/23', '2001:db8::/32', 'fec0::/10', '64:ff9b:1::/48'),
];

const loopback = near.slice(0, 2).map(([, net]) => net);

/**
 * Throws unless the address may be reached; the sentence names its kind and the setting that would
 * allow it.
 */
export function requireReach(
  host: string,
  text: string,
  reach: Reach,
  allowed: readonly Network[],
): void {
  const address = parseAddress(text);
  if (address === undefined) {
    throw errors.host_unchecked({ host });
  }
  const real = inner(address);
  const forbidden = kindIn(never, address) ?? kindIn(never, real);
  if (forbidden !== undefined) {
    throw errors.never_called({ host, address: text, kind: forbidden });
  }
  if (reach === 'loopback') {
    if (!loopback.some((net) => contains(net, real))) {
      throw errors.not_loopback({ host, address: text });
    }
    return;
  }
  const kind = kindIn(near, address) ?? kindIn(near, real);
  if (kind !== undefined && !allowed.some((net) => contains(net, real))) {
    throw errors.not_allowed({ host, address: text, kind });
  }
}

export function parseAllowed(list: readonly string[]): readonly Network[] {
  return list.map((text) => {
    const net = parseNetwork(text.trim());
    if (net === undefined) {
      throw errors.allowed_no_network({ text: text.slice(0, 60) });
    }
    return net;
  });
}

const kindIn = (table: Kinds, address: Address): string | undefined =>
  table.find(([, net]) => contains(net, address))?.[0];
