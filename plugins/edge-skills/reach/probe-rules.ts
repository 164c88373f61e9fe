import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

import type { LocalPolicy } from 'svc/contracts/edge-uplink';
import { type Glob, matchesPath, parseGlob } from 'svc/probe';

import { errors } from './errors.ts';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Resolver of names to addresses, replaceable in tests. */
export type Resolve = (
  name: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export interface TargetOptions {
  readonly near?: boolean;
  readonly ip?: 'any' | '4' | '6';
}

interface Rule {
  /** Undefined: any. */
  readonly network: BlockList | undefined;
  readonly names: readonly Glob[] | undefined;
  readonly isLocalhost: boolean;
  readonly ports: readonly [number, number];
}

type Network = readonly [address: string, prefix: number, family: 'ipv4' | 'ipv6'];

/** Whatever is listed: they hand out the credentials of the machine, or are no single host. The last ones are the same, wrapped in IPv6. */
const never: readonly Network[] = [
  ['169.254.169.254', 32, 'ipv4'],
  ['169.254.170.0', 23, 'ipv4'],
  ['100.100.100.200', 32, 'ipv4'],
  ['0.0.0.0', 8, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['255.255.255.255', 32, 'ipv4'],
  ['fd00:ec2::', 32, 'ipv6'],
  ['::', 128, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
  ['64:ff9b::a9fe:a9fe', 128, 'ipv6'],
  ['64:ff9b::a9fe:aa00', 119, 'ipv6'],
  ['64:ff9b::6464:64c8', 128, 'ipv6'],
  ['2002:a9fe:a9fe::', 48, 'ipv6'],
  ['::a9fe:a9fe', 128, 'ipv6'],
];
/**
 * Networks that the owner must name explicitly: this host, its link, and addresses that may be
 * either in disguise.
 */
const near: readonly Network[] = [
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['2002::', 16, 'ipv6'],
];
const maxAddresses = 16;

/** Which addresses the owner of this machine lets skills talk to. A name is resolved once, and what was checked is what is dialled. */
export class ProbeRules {
  readonly #policy: LocalPolicy;
  readonly #resolve: Resolve;
  readonly #never = blockList(never);
  #source: readonly string[] | undefined;
  #rules: readonly Rule[] = [];

  constructor(policy: LocalPolicy, resolve: Resolve = (name) => lookup(name, { all: true })) {
    this.#policy = policy;
    this.#resolve = resolve;
  }

  /** Throws where nothing at all may be asked of the network. */
  requireAny(): void {
    if (this.#current().length === 0) {
      throw errors.no_probes_allowed();
    }
  }

  /**
   * Returns the first address of the host that is allowed; an undefined port needs a rule for all
   * ports. `near`: this machine needs no rule of its own. `ip`: version of the address.
   */
  async target(
    host: string,
    port: number | undefined,
    { near: mayBeNear = false, ip = 'any' }: TargetOptions = {},
  ): Promise<Address> {
    this.requireAny();
    const plain = host.replaceAll(/^\[|\]$/g, '').toLowerCase();
    const named = isIP(plain) === 0;
    const found = named ? await this.#lookup(plain) : [{ address: plain, family: isIP(plain) }];
    const allowed = found
      .filter(({ family }) => ip === 'any' || family === Number(ip))
      .slice(0, maxAddresses)
      .find(({ address, family }) =>
        this.#allows(named ? plain : undefined, address, family, port, mayBeNear),
      );
    if (!allowed) {
      const where =
        port === undefined ? plain : `${plain.includes(':') ? `[${plain}]` : plain}:${port}`;
      const what = named
        ? `${where} (${found
            .map(({ address }) => address)
            .join(', ')
            .slice(0, 200)})`
        : where;
      throw errors.probe_not_allowed({ what });
    }
    return { address: allowed.address, family: allowed.family === 6 ? 6 : 4 };
  }

  async #lookup(name: string): ReturnType<Resolve> {
    try {
      return await this.#resolve(name);
    } catch (error) {
      throw errors.no_address(
        { name, code: (error as NodeJS.ErrnoException).code ?? 'it cannot be resolved' },
        { cause: error },
      );
    }
  }

  #allows(
    name: string | undefined,
    address: string,
    family: number,
    port: number | undefined,
    mayBeNear: boolean,
  ): boolean {
    const kind = family === 6 ? 'ipv6' : 'ipv4';
    if (this.#never.check(address, kind)) {
      return false;
    }
    const isNear = !mayBeNear && nearby().check(address, kind);
    return this.#current().some(({ network, names, isLocalhost, ports: [from, to] }) => {
      const fitsPort = port === undefined ? from === 0 : port >= from && port <= to;
      if (!fitsPort || network?.check(address, kind) === false) {
        return false;
      }
      if (
        names !== undefined &&
        (name === undefined || !names.some((glob) => matchesPath(glob, `/${name}`)))
      ) {
        return false;
      }
      return network !== undefined || !isNear || isLocalhost;
    });
  }

  #current(): readonly Rule[] {
    const { probes } = this.#policy.current().skills;
    if (probes !== this.#source) {
      this.#rules = probes.map(readRule);
      this.#source = probes;
    }
    return this.#rules;
  }
}

/** `*`, an address, `10.0.0.0/8`, `[fd00::/8]` or a name with wildcards; then a port, `8000-8999` or `*`. */
function readRule(text: string): Rule {
  const colon = text.lastIndexOf(':');
  const [host, port] = [
    text
      .slice(0, colon)
      .replaceAll(/^\[|\]$/g, '')
      .toLowerCase(),
    text.slice(colon + 1),
  ];
  const [from = 0, to = from] = port === '*' ? [0, 65_535] : port.split('-').map(Number);
  const [base = '', prefix] = host.split('/');
  const family = isIP(base);
  if (family !== 0) {
    const whole = family === 6 ? 128 : 32;
    const size = prefix === undefined ? whole : Number(prefix);
    // An invalid prefix allows one address, and no more than was meant.
    const network = blockList([
      [base, size >= 0 && size <= whole ? size : whole, family === 6 ? 'ipv6' : 'ipv4'],
    ]);
    return { network, names: undefined, isLocalhost: false, ports: [from, to] };
  }
  return {
    network: undefined,
    names: host === '*' ? undefined : parseGlob(`/${host}`),
    isLocalhost: host === 'localhost',
    ports: [from, to],
  };
}

function blockList(networks: readonly Network[]): BlockList {
  const list = new BlockList();
  networks.forEach(([address, prefix, family]) => list.addSubnet(address, prefix, family));
  return list;
}

/** Returns all current addresses of this host. */
function nearby(): BlockList {
  const list = blockList(near);
  for (const { address, family } of Object.values(networkInterfaces()).flatMap(
    (own) => own ?? [],
  )) {
    list.addAddress(address.split('%', 1)[0]!, family === 'IPv6' ? 'ipv6' : 'ipv4');
  }
  return list;
}
