import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { Command } from 'svc/cli';
import { archivedPack } from '../packaging/pack-archive.ts';
import { signPack } from '../packaging/pack-signature.ts';

export const command: Command = {
  operands: ['<archive>'],
  options: {
    key: {
      value: 'file',
      about: 'private key file, created if missing; default: svc-pack.key in the current folder',
    },
  },
  about:
    'Signs the SHA-256 of an archive with Ed25519, writes <archive>.sig, and prints the public key that users need to add the registry.',
  example: 'svc pack sign ~/packs/greeter/dist/greeter-0.1.0.tgz --key ~/.config/svc-pack.key',

  async run(call) {
    const archive = resolve(call.operand(0));
    const { id, version, sha256 } = archivedPack(readFileSync(archive));
    const keyFile = resolve(call.value('key') ?? 'svc-pack.key');
    const signed = signPack(sha256, keyFile);
    writeFileSync(`${archive}.sig`, `${signed.signature}\n`);
    return {
      data: { id, version, sha256, ...signed, key_file: keyFile },
      text: () =>
        [
          ...(signed.made ? [`Created the key ${keyFile}: keep it safe and secret.`] : []),
          `${archive}.sig`,
          `public key ${signed.public_key}`,
        ].join('\n'),
    };
  },
};
