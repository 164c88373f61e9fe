import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { ForeignPrograms, ProgramOwner, RunResult } from 'svc/contracts/programs';
import { type Handle, type Ids } from 'svc/sdk';

import { errors } from './errors.ts';
import { keyFileOf, type SshKey } from './openssh-key.ts';

export interface KeyProgramParts {
  readonly programs: Handle<ForeignPrograms>;
  readonly owner: ProgramOwner;
  readonly ids: Pick<Ids, 'uuid'>;
  /** Folder of the files that exist while a key is read. */
  readonly folder: string;
}

/** A key file may ask for any number of rounds of key derivation. */
const timeoutMs = 10_000;
const maxBytes = 64 * 1024;
const kinds = /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521))$/;
const minRsaBytes = 2_048 / 8;

/**
 * Reads private keys of every kind that OpenSSH knows, by its own program: in a process of its own,
 * so that a costly passphrase holds up no request.
 */
export class KeyProgram {
  readonly #parts: KeyProgramParts;

  constructor(parts: KeyProgramParts) {
    this.#parts = parts;
  }

  /** Returns the key without its passphrase; throws with the remedy. */
  async read(text: string, passphrase: string): Promise<SshKey> {
    const folder = join(this.#parts.folder, `key-${this.#parts.ids.uuid()}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      const [key, word, ask] = ['key', 'passphrase', 'ask'].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      await writeFile(key, `${text.trim()}\n`, { mode: 0o600 });
      await writeFile(word, passphrase, { mode: 0o600 });
      await writeFile(ask, '#!/bin/sh\nexec cat "$SVC_PASSPHRASE_FILE"\n', { mode: 0o700 });
      const env = { SSH_ASKPASS: ask, SSH_ASKPASS_REQUIRE: 'force', SVC_PASSPHRASE_FILE: word };
      const opened = await this.#run(['-q', '-p', '-N', '', '-f', key], env);
      if (opened.code !== 0) {
        throw errors.identity_unusable(
          ...unusable(
            opened.cut === 'time'
              ? 'its passphrase takes too long to check'
              : /passphrase/i.test(opened.errors)
                ? 'the passphrase is missing or wrong'
                : 'it is not a private key, or it is damaged',
          ),
        );
      }
      const shown = await this.#run(['-y', '-f', key], env);
      const [kind = '', blob = ''] = Buffer.from(shown.output).toString('latin1').split(/\s/);
      const bytes = Buffer.from(blob, 'base64');
      if (shown.code !== 0 || !kinds.test(kind)) {
        throw errors.identity_unusable(
          ...unusable(`it is of the kind ${kind.slice(0, 40) || 'unknown'}`),
        );
      }
      if (kind === 'ssh-rsa' && modulusBytes(bytes) < minRsaBytes) {
        throw errors.identity_unusable(...unusable('an RSA key has to have 2048 bits or more'));
      }
      return keyFileOf(kind, bytes, await readFile(key, 'utf8'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<RunResult> {
    const { programs, owner } = this.#parts;
    const file = programs.available ? programs.get().find('ssh-keygen') : undefined;
    if (file === undefined) {
      throw errors.no_key_program();
    }
    return await programs.get().run(owner, file, args, {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', ...env },
      timeoutMs,
      maxBytes,
    });
  }
}

const unusable = (problemOf: string) =>
  [{ problemOf }, { details: [{ path: '/private_key', message: problemOf }] }] as const;

/** Returns the size of the modulus in a public RSA key: its third field, without a leading zero. */
function modulusBytes(blob: Buffer): number {
  let at = 0;
  for (let field = 0; field < 2; field++) {
    at += 4 + blob.readUInt32BE(at);
  }
  const length = blob.readUInt32BE(at);
  return blob[at + 4] === 0 ? length - 1 : length;
}
