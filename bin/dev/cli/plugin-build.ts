import { basename, join, relative, resolve } from 'node:path';
import { isSea } from 'node:sea';

import { folderOnDisk } from '../../../core/host/index.ts';
import type { PluginManifest } from '../../../core/sdk/index.ts';
import { type Command, table, sizeOf } from 'svc/cli';
import { withProgress } from '../../product/with-progress.ts';
import { placementOf } from '../examine/placement.ts';
import { placeFolder } from '../packaging/place-folder.ts';
import { prebuild, sha256 } from '../packaging/prebuilt-plugin.ts';
import { errors } from './errors.ts';

export const command: Command = {
  operands: ['<folder>'],
  options: {
    out: { value: 'dir', about: "folder to create; default: dist/<id> in the plugin's folder" },
  },
  about:
    'Writes the code as a single file, along with the data and the hashes of both; builds are reproducible. To install a pack, copy the result into packs/ in a data folder.',
  example: 'svc plugin build my-packs/greeter && cp -r my-packs/greeter/dist/greeter data/packs/',

  async run(call) {
    if (isSea()) {
      throw errors.no_plugin_compiler();
    }
    const path = resolve(call.operand(0));
    const id = basename(path);
    const out = resolve(call.value('out') ?? join(path, 'dist', id));
    const built = await withProgress(`Building ${id}`, () =>
      prebuild(folderOnDisk(id, path, 'shipped')),
    );
    placeFolder(out, built);
    const files = [...built].map(([name, bytes]) => ({
      name,
      bytes: bytes.length,
      sha256: sha256(bytes),
    }));
    const placement = placementOf(
      JSON.parse(built.get('plugin.json')!.toString('utf8')) as Partial<PluginManifest>,
    );
    return {
      data: { id, out, placement, files },
      text: () =>
        `${relative('', out) || '.'} (${placement})\n${table(files.map(({ name, bytes, sha256: hash }) => [`  ${name}`, sizeOf(bytes), hash.slice(0, 16)]))}`,
    };
  },
};
