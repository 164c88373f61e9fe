import { BlockList, isIP } from 'node:net';
import { errors } from './errors.ts';

/** Resolver of the client's address, which knows the peers that only forward requests. */
export class ClientAddress {
  readonly #proxies: BlockList | undefined;

  /** `trusted` is a list of addresses and CIDR ranges; only a peer in it may say who it speaks for. */
  constructor(trusted: readonly string[]) {
    this.#proxies = trusted.length === 0 ? undefined : ranges(trusted);
  }

  of(peer: string | undefined, forwardedFor: string | undefined): string {
    const address = plain(peer);
    return forwardedFor === undefined || !this.isProxy(address)
      ? address
      : (this.#lastStranger(forwardedFor) ?? address);
  }

  isProxy(peer: string | undefined): boolean {
    const address = plain(peer);
    return (
      this.#proxies !== undefined &&
      isIP(address) !== 0 &&
      this.#proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
    );
  }

  /**
   * Returns the right-most hop that is not a proxy of ours: everything left of it is the caller's
   * own claim.
   */
  #lastStranger(forwardedFor: string): string | undefined {
    const hop = forwardedFor
      .split(',')
      .map((each) => plain(each.trim()))
      .findLast((address) => isIP(address) === 0 || !this.isProxy(address));
    return hop === undefined || isIP(hop) === 0 ? undefined : hop;
  }
}

function ranges(list: readonly string[]): BlockList {
  const proxies = new BlockList();
  for (const entry of list) {
    const [address = '', bits] = entry.split('/');
    const version = isIP(address);
    const width = bits === undefined ? (version === 6 ? 128 : 32) : Number(bits);
    if (version === 0 || !/^\d{1,3}$/.test(bits ?? '0') || width > (version === 6 ? 128 : 32)) {
      throw errors.proxy_no_address({ entry });
    }
    proxies.addSubnet(address, width, version === 6 ? 'ipv6' : 'ipv4');
  }
  return proxies;
}

/** Dual-stack sockets show IPv4 peers as `::ffff:10.0.0.1`; proxies may add a port. */
function plain(address: string | undefined): string {
  if (address === undefined) {
    return '';
  }
  if (address.startsWith('::ffff:') && address.includes('.')) {
    return address.slice(7);
  }
  const port = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/.exec(address);
  return port?.[1] ?? port?.[2] ?? address;
}
