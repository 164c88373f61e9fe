import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf, SvcError } from 'svc/sdk';
import { readText, writeText } from 'svc/tunnel';

/** `edge.json` of the data folder: who this machine is to which manager. */
export interface Credentials {
  /** `https://manager.example` */
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
}

/** The keys of this machine, and those of a rotation that is under way. */
export class CredentialStore {
  readonly #file: string;
  readonly #stagedFile: string;
  #known: Credentials | undefined;

  constructor(dataDir: string) {
    this.#file = join(dataDir, 'edge.json');
    this.#stagedFile = join(dataDir, 'edge.next.json');
    this.#known = read(this.#file);
  }

  /** Undefined while this machine is not enrolled. */
  current(): Credentials | undefined {
    return (this.#known ??= read(this.#file));
  }

  /** Before it is proved; a kill leaves it beside the old one, where it is found again. */
  stage(secretKey: string): Credentials {
    const next = { ...this.current()!, secret_key: secretKey };
    writeText(this.#stagedFile, JSON.stringify(next, undefined, 2));
    return next;
  }

  /** One that was staged and never taken. */
  staged(): Credentials | undefined {
    return read(this.#stagedFile);
  }

  take(credentials: Credentials): void {
    writeText(this.#file, JSON.stringify(credentials, undefined, 2));
    this.#known = credentials;
    this.discard();
  }

  discard(): void {
    rmSync(this.#stagedFile, { force: true });
  }
}

function read(file: string): Credentials | undefined {
  const text = readText(file);
  if (text === undefined) {
    return undefined;
  }
  try {
    const { manager, tunnel_path, edge_id, name, access_key, secret_key, pin, ca } = JSON.parse(text) as Credentials;
    const url = new URL(manager);
    const texts = [tunnel_path, access_key, secret_key].every((one) => typeof one === 'string' && one !== '');
    if (!/^https?:$/.test(url.protocol) || !texts || !Number.isSafeInteger(edge_id)) {
      throw new Error('a field is missing or of another type');
    }
    return { manager, tunnel_path, edge_id, name, access_key, secret_key, pin, ca };
  } catch (cause) {
    throw new SvcError('invalid_argument', `${file} is damaged (${messageOf(cause)}): enrol this machine again with "svc edge install"`, { cause });
  }
}
