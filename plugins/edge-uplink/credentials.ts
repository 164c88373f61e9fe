import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from 'svc/sdk';
import { Addresses, keysSum, type ManagerAddress, readText, writeText } from 'svc/tunnel';

import { errors } from './errors.ts';

/** `edge.json` of the data folder: who this machine is to which manager. */
export interface Credentials {
  /** `https://manager.example`, with the path below which it lives, if any. */
  readonly manager: string;
  readonly tunnel_path: string;
  readonly edge_id: number;
  readonly name: string;
  readonly access_key: string;
  readonly secret_key: string;
  /** `sha256/…` of the manager's public key. */
  readonly pin?: string | undefined;
  /** PEM of the authority that signs the manager's certificate. */
  readonly ca?: string | undefined;
  /**
   * Proxy such as `http://user:password@proxy.example:3128`; the setting `uplink.proxy` takes
   * precedence.
   */
  readonly proxy?: string | undefined;
}

/** The keys of this machine, and those of a rotation that is under way. */
export class CredentialStore {
  readonly #file: string;
  readonly #stagedFile: string;
  readonly #proxy: string;
  #known: Credentials | undefined;
  #addresses: Addresses | undefined;
  #told: readonly ManagerAddress[] = [];

  /** `proxy` goes before the one that is kept; it may be empty. */
  constructor(dataDir: string, proxy = '') {
    this.#proxy = proxy;
    this.#file = join(dataDir, 'edge.json');
    this.#stagedFile = join(dataDir, 'edge.next.json');
    this.#known = read(this.#file);
  }

  /** Undefined while this machine is not enrolled. `manager` and `pin` are those of the address in use. */
  current(): Credentials | undefined {
    const known = (this.#known ??= read(this.#file));
    return known && this.#placed(known);
  }

  /** The manager's addresses; undefined while this machine is not enrolled. */
  get addresses(): Addresses | undefined {
    const known = (this.#known ??= read(this.#file));
    return known && this.#addressesOf(known);
  }

  /** Takes the addresses that the manager has told; returns those that are not used. */
  follow(told: readonly ManagerAddress[]): readonly ManagerAddress[] {
    this.#told = told;
    return this.addresses?.tell(told) ?? [];
  }

  /**
   * Stores new credentials before they are proven; after a kill they are found next to the old
   * ones.
   */
  stage(secretKey: string): Credentials {
    const next = { ...(this.#known ?? read(this.#file))!, secret_key: secretKey };
    write(this.#stagedFile, next);
    return this.#placed(next);
  }

  /** Returns credentials that were staged and never activated. */
  staged(): Credentials | undefined {
    const staged = read(this.#stagedFile);
    return staged && this.#placed(staged);
  }

  take(credentials: Credentials): void {
    const own = read(this.#file);
    const kept = {
      ...credentials,
      // Those of the address in use, and of this run, are not what was enrolled.
      ...(own && { manager: own.manager, pin: own.pin }),
      proxy: own?.proxy,
    };
    write(this.#file, kept);
    this.#known = kept;
    this.discard();
  }

  discard(): void {
    rmSync(this.#stagedFile, { force: true });
  }

  #placed(keys: Credentials): Credentials {
    const { url, pin } = this.#addressesOf(keys).current;
    return {
      ...keys,
      manager: url,
      pin,
      ...(this.#proxy !== '' && { proxy: this.#proxy }),
    };
  }

  #addressesOf({ manager, pin }: Credentials): Addresses {
    if (this.#addresses === undefined) {
      this.#addresses = new Addresses({ url: manager, pin });
      this.#addresses.tell(this.#told);
    }
    return this.#addresses;
  }
}

const write = (file: string, credentials: Credentials): void =>
  writeText(file, JSON.stringify({ ...credentials, keys_sum: keysSum(credentials) }, undefined, 2));

function read(file: string): Credentials | undefined {
  const text = readText(file);
  if (text === undefined) {
    return undefined;
  }
  try {
    const { keys_sum: sum, ...kept } = JSON.parse(text) as Credentials & {
      // An earlier version wrote none.
      readonly keys_sum?: number;
    };
    const { manager, tunnel_path, edge_id, name, access_key, secret_key, pin, ca, proxy } = kept;
    const url = new URL(manager);
    const texts = [tunnel_path, access_key, secret_key].every(
      (one) => typeof one === 'string' && one !== '',
    );
    if (!/^https?:$/.test(url.protocol) || !texts || !Number.isSafeInteger(edge_id)) {
      throw new Error('a field is missing or of another type');
    }
    if (sum !== undefined && sum !== keysSum(kept)) {
      throw new Error('the checksum of its keys does not match');
    }
    return { manager, tunnel_path, edge_id, name, access_key, secret_key, pin, ca, proxy };
  } catch (cause) {
    throw errors.credentials_damaged({ file, cause: messageOf(cause) }, { cause });
  }
}
