import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf, SvcError } from 'svc/sdk';

import { keepText, readText } from './keep.ts';

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

export interface CredentialStore {
  /** Undefined while nobody has enrolled this machine. */
  current(): Credentials | undefined;
  /** Before it is proved; a kill leaves it beside the old one, where it is found again. */
  stage(secretKey: string): Credentials;
  /** One that was staged and never taken. */
  staged(): Credentials | undefined;
  take(credentials: Credentials): void;
  discard(): void;
}

export function openCredentials(dataDir: string): CredentialStore {
  const file = join(dataDir, 'edge.json');
  const stagedFile = join(dataDir, 'edge.next.json');
  let known = read(file);
  const store: CredentialStore = {
    current: () => (known ??= read(file)),
    stage(secretKey) {
      const next = { ...store.current()!, secret_key: secretKey };
      keepText(stagedFile, JSON.stringify(next, undefined, 2));
      return next;
    },
    staged: () => read(stagedFile),
    take(credentials) {
      keepText(file, JSON.stringify(credentials, undefined, 2));
      known = credentials;
      store.discard();
    },
    discard: () => rmSync(stagedFile, { force: true }),
  };
  return store;
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
