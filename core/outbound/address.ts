import { isIPv4, isIPv6 } from 'node:net';

/** Address as sixteen bytes; IPv4 is in ::ffff:0:0/96. */
export type Address = Uint8Array;

export interface Network {
  readonly text: string;
  readonly base: Address;
  readonly bits: number;
}

/** Undefined for anything but the canonical spellings; a URL's parser has already folded the odd ones of IPv4. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) {
    return mapped(text.split('.').map(Number));
  }
  const plain = text.split('%', 1)[0]!;
  return isIPv6(plain) ? fromIPv6(plain) : undefined;
}

export function parseNetwork(text: string): Network | undefined {
  const [address, length, ...rest] = text.split('/');
  const base = parseAddress(address ?? '');
  if (
    base === undefined ||
    rest.length > 0 ||
    (length !== undefined && !/^\d{1,3}$/.test(length))
  ) {
    return undefined;
  }
  const short = isIPv4(address!);
  const most = short ? 32 : 128;
  const bits = length === undefined ? most : Number(length);
  return bits > most ? undefined : { text, base, bits: short ? bits + 96 : bits };
}

export function contains({ base, bits }: Network, address: Address): boolean {
  const whole = bits >> 3;
  for (let index = 0; index < whole; index++) {
    if (base[index] !== address[index]) {
      return false;
    }
  }
  const rest = bits & 7;
  return rest === 0 || (base[whole]! ^ address[whole]!) >> (8 - rest) === 0;
}

/**
 * Returns the real target of a translating address: the IPv4 address inside NAT64, 6to4, SIIT and
 * the old compatible form.
 */
export function inner(address: Address): Address {
  if (
    contains(nat64, address) ||
    contains(translated, address) ||
    (contains(compatible, address) && !address.subarray(0, 15).every((byte) => byte === 0))
  ) {
    return mapped([...address.subarray(12)]);
  }
  return contains(sixToFour, address) ? mapped([...address.subarray(2, 6)]) : address;
}

export function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (parsed === undefined) {
    throw new TypeError(`${text} is not a network`);
  }
  return parsed;
}

function mapped(four: readonly number[]): Address {
  const bytes = new Uint8Array(16);
  bytes.set([0xff, 0xff, ...four], 10);
  return bytes;
}

function fromIPv6(text: string): Address {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const groups = dotted
    ? `${dotted[1]}${hexPair(dotted[2]!, dotted[3]!)}:${hexPair(dotted[4]!, dotted[5]!)}`
    : text;
  const [head = '', tail] = groups.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const words = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return Uint8Array.from(
    words.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff]),
  );
}

const hexPair = (high: string, low: string): string =>
  ((Number(high) << 8) | Number(low)).toString(16);

const nat64 = network('64:ff9b::/96');
const translated = network('::ffff:0:0:0/96');
const sixToFour = network('2002::/16');
const compatible = network('::/96');
