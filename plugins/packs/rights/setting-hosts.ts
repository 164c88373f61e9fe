/** Addresses in one setting. */
const maxAddresses = 1_000;

/**
 * Hosts that the value of a setting names, by one address or a list of them. An address names one
 * host: a `*` in it covers nothing.
 */
export function hostsIn(value: unknown): readonly string[] {
  const addresses: readonly unknown[] = Array.isArray(value)
    ? value.slice(0, maxAddresses)
    : [value];
  return addresses.flatMap((address) => {
    const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
    return url === undefined || !/^https?:$/.test(url.protocol) || url.hostname.includes('*')
      ? []
      : [url.host];
  });
}
