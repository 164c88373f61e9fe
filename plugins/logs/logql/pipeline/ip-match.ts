/** An address as a number, with its family: 32 bits or 128. */
interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

function parseV4(text: string): Address | undefined {
  const parts = text.split('.');
  if (
    parts.length !== 4 ||
    !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
  ) {
    return undefined;
  }
  return { bits: 32, value: parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) };
}

function parseV6(text: string): Address | undefined {
  const halves = text.split('::');
  if (text.length > 45 || halves.length > 2) {
    return undefined;
  }
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const tail = groups.at(-1)!.at(-1);
  if (tail?.includes('.')) {
    const v4 = parseV4(tail);
    if (v4 === undefined) {
      return undefined;
    }
    groups.at(-1)!.splice(-1, 1, (v4.value >> 16n).toString(16), (v4.value & 0xffffn).toString(16));
  }
  const count = groups.reduce((sum, half) => sum + half.length, 0);
  if (
    !groups.flat().every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) ||
    (halves.length === 2 ? count > 7 : count !== 8)
  ) {
    return undefined;
  }
  const missing = Array.from({ length: 8 - count }, () => '0');
  const all = halves.length === 2 ? [...groups[0]!, ...missing, ...groups[1]!] : groups[0]!;
  return { bits: 128, value: all.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n) };
}

function parseAddress(text: string): Address | undefined {
  return text.includes(':') ? parseV6(text) : parseV4(text);
}

/**
 * Returns a matcher for `10.0.0.1`, `10.0.0.0/8` or `10.0.0.1-10.0.0.9`; throws for anything else.
 */
export function addressMatcher(text: string): (address: Address) => boolean {
  const bad = new Error(`ip: invalid pattern ${JSON.stringify(text.slice(0, 100))}`);
  const range = /^([^-/]+)-([^-/]+)$/.exec(text);
  const network = /^([^-/]+)\/(\d{1,3})$/.exec(text);
  const first = parseAddress((range?.[1] ?? network?.[1] ?? text).trim());
  if (first === undefined) {
    throw bad;
  }
  let from = first.value;
  let to = first.value;
  if (range !== null) {
    const last = parseAddress(range[2]!.trim());
    if (last === undefined || last.bits !== first.bits) {
      throw bad;
    }
    to = last.value;
  }
  if (network !== null) {
    const free = first.bits - Number(network[2]);
    if (free < 0) {
      throw bad;
    }
    from = (first.value >> BigInt(free)) << BigInt(free);
    to = from | ((1n << BigInt(free)) - 1n);
  }
  return (address) => address.bits === first.bits && address.value >= from && address.value <= to;
}

/**
 * Returns whether any address in the line matches. Tests every run of characters that could be one,
 * once.
 */
export function lineHasAddress(line: string, matches: (address: Address) => boolean): boolean {
  let start = -1;
  for (let i = 0; i <= line.length; i++) {
    if (i < line.length && isAddressChar(line.charCodeAt(i))) {
      start = start < 0 ? i : start;
    } else if (start >= 0) {
      if (i - start >= 2 && i - start <= 128 && runHasAddress(line.slice(start, i), matches)) {
        return true;
      }
      start = -1;
    }
  }
  return false;
}

function runHasAddress(run: string, matches: (address: Address) => boolean): boolean {
  const whole = run.replace(/[.]+$/, '');
  const candidates = whole.includes(':')
    ? [whole, whole.replace(/:$/, ''), ...whole.split(':')]
    : [whole.replace(/^[a-fA-F.]+/, '')];
  return candidates.some((candidate) => {
    const address = candidate.length < 2 ? undefined : parseAddress(candidate);
    return address !== undefined && matches(address);
  });
}

function isAddressChar(code: number): boolean {
  return (
    (code >= 46 && code <= 58 && code !== 47) ||
    (code >= 65 && code <= 70) ||
    (code >= 97 && code <= 102)
  );
}
