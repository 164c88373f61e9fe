import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isSea } from 'node:sea';

import { folderOnDisk } from '../../../core/host/index.ts';
import type { Command } from 'svc/cli';
import { withProgress } from '../../product/with-progress.ts';
import { archivedPack, packArchive } from '../packaging/pack-archive.ts';
import { prebuild } from '../packaging/prebuilt-plugin.ts';
import { errors } from './errors.ts';

export const command: Command = {
  operands: ['<folder>'],
  options: {
    out: {
      value: 'file',
      about: "archive to write; default: dist/<id>-<version>.tgz in the pack's folder",
    },
  },
  about:
    'Writes a tar.gz archive of plain JavaScript and data, with their hashes; builds are reproducible. Install the archive with "svc market install", or publish it to a registry.',
  example: 'svc pack build ~/packs/greeter',

  async run(call) {
    if (isSea()) {
      throw errors.no_pack_compiler();
    }
    const folder = resolve(call.operand(0));
    const built = await withProgress(`Building ${basename(folder)}`, () =>
      prebuild(folderOnDisk(basename(folder), folder, 'shipped')),
    );
    const bytes = packArchive(built);
    const { id, version, sha256 } = archivedPack(bytes);
    const file = resolve(call.value('out') ?? join(folder, 'dist', `${id}-${version}.tgz`));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    return {
      data: { id, version, file, sha256, files: built.size, bytes: bytes.length },
      text: () =>
        `${relative('', file)}\n  sha256 ${sha256}, ${built.size} files, ${bytes.length} bytes`,
    };
  },
};
