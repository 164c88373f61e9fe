import { stableMs } from './reconnect.ts';

/** One address at which a manager is reached. */
export interface ManagerAddress {
  /** `https://manager.example`, with the path below which it lives, if any. */
  readonly url: string;
  /** `sha256/…` of the public key that it shows. */
  readonly pin?: string | undefined;
}

/** Max number of addresses that are kept; a manager has as many as it has nodes. */
export const mostAddresses = 8;
const longestUrl = 300;
const pinForm = /^sha256\/[A-Za-z0-9+/]{43}=$/;

/** Returns whether a value that came from a manager is an address. */
export function isAddress(value: unknown): value is ManagerAddress {
  const { url, pin } = (value ?? {}) as { url?: unknown; pin?: unknown };
  if (typeof url !== 'string' || url.length > longestUrl || !URL.canParse(url)) {
    return false;
  }
  const { protocol, username, password, search, hash } = new URL(url);
  return (
    /^https?:$/.test(protocol) &&
    [username, password, search, hash].every((part) => part === '') &&
    (pin === undefined || (typeof pin === 'string' && pinForm.test(pin)))
  );
}

/** The addresses of one manager. An edge uses one at a time, and the next when that one fails. */
export class Addresses {
  readonly #first: ManagerAddress;
  #all: readonly ManagerAddress[];
  #at = 0;
  #failed = 0;

  /** Starts with the address at which the edge was enrolled, which is never dropped. */
  constructor(first: ManagerAddress) {
    this.#first = first;
    this.#all = [first];
  }

  get current(): ManagerAddress {
    return this.#all[this.#at]!;
  }

  /** True when there is another one to turn to. */
  get several(): boolean {
    return this.#all.length > 1;
  }

  /**
   * Takes what the manager has told over a connection on which it proved who it is; the one in use
   * stays in use if it is still among them. Returns those that are not used, because they are less
   * safe than the first: without TLS, or without a pin where the first has one.
   */
  tell(told: readonly ManagerAddress[]): readonly ManagerAddress[] {
    const used = placeOf(this.current);
    const others = told.filter((one) => placeOf(one) !== placeOf(this.#first));
    const unsafe = others.filter((one) => !this.#isAsSafe(one));
    this.#all = [
      this.#first,
      ...new Map(
        others.filter((one) => !unsafe.includes(one)).map((one) => [placeOf(one), one]),
      ).values(),
    ].slice(0, mostAddresses);
    this.#at = Math.max(
      0,
      this.#all.findIndex((one) => placeOf(one) === used),
    );
    this.#failed = 0;
    return unsafe;
  }

  /**
   * Turns to the next address after the current one was lost, having been up for `upMs`. Returns
   * whether that one, too, has failed since an address last held; undefined if there is no other.
   */
  next(upMs = 0): 'untried' | 'tried' | undefined {
    if (!this.several) {
      return undefined;
    }
    this.#failed = upMs >= stableMs ? 1 : this.#failed + 1;
    this.#at = (this.#at + 1) % this.#all.length;
    if (this.#failed < this.#all.length) {
      return 'untried';
    }
    this.#failed = 0;
    return 'tried';
  }

  #isAsSafe({ url, pin }: ManagerAddress): boolean {
    const isSecure = new URL(url).protocol === 'https:';
    const mustBe = new URL(this.#first.url).protocol === 'https:';
    return (isSecure || !mustBe) && (pin !== undefined || this.#first.pin === undefined);
  }
}

/** The same for two spellings of one address. */
function placeOf({ url }: ManagerAddress): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}
