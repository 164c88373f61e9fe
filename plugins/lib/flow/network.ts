import { isIPv6 } from 'node:net';

/** What one customer of a provider has: a single IPv4 address, or 64 bits of IPv6 to choose addresses from. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) {
    return ip;
  }
  const [head, tail] = ip.split('::', 2).map((part) => part.split(':').filter(Boolean)) as [string[], string[]?];
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? [])];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
