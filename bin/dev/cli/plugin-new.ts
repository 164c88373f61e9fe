import { existsSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { isSea } from 'node:sea';

import { pluginSources, type Product } from '../../../core/boot/index.ts';
import { discover } from '../../../core/host/index.ts';
import { readManifest } from '../../manifest/read-manifest.ts';
import { type Command, usageFailure } from 'svc/cli';
import { currentProduct } from '../../product/product.ts';
import { scaffold } from '../scaffold/scaffold.ts';
import { errors } from './errors.ts';

/** Names that core's own parts go by. */
const reserved: ReadonlySet<string> = new Set(['core', 'sqlite', 'shipped-files']);

export const command: Command = {
  operands: ['<id>'],
  options: {
    dir: {
      value: 'dir',
      about:
        'parent folder of the new plugin; default: plugins/ in the current checkout, otherwise the current folder; with the single binary: packs/ in the data folder',
    },
  },
  about:
    "Inside svc's plugins/ folder, creates an area; anywhere else, creates a pack that runs in its own process. Either works right away and comes with a passing test. If svc is installed as a single binary, the pack needs no compiler.",
  example: 'svc plugin new welcome',

  async run(call) {
    const id = call.operand(0);
    if (!/^[a-z][a-z0-9-]{1,40}$/.test(id) || reserved.has(id)) {
      throw usageFailure(
        `"${id}" cannot be the id of a plugin: use 2 to 41 lower-case letters, digits and dashes, starting with a letter, and no name that svc uses`,
      );
    }
    const product = await currentProduct();
    const root = resolve(product.root);
    const shipped = join(root, 'plugins');
    const packs = join(resolve(call.environment['SVC_DATA_DIR'] ?? 'data'), 'packs');
    const usual = isSea() ? packs : `${resolve('.')}${sep}`.startsWith(root + sep) ? shipped : '.';
    const parent = resolve(call.value('dir') ?? usual);
    const form = isSea() ? 'built' : parent === shipped ? 'area' : 'pack';
    const folder = join(parent, id);
    assertFree(id, folder, product);
    const files = scaffold({ id, folder, root, form });
    const next = {
      area: `npm test -- plugins/${id}`,
      pack: `cd ${relative('', folder)} && npm test`,
      built:
        parent === packs
          ? `svc pack rights ${id}, then svc pack accept`
          : `svc market link ${relative('', folder)}`,
    }[form];
    const kind = form === 'area' ? 'area' : 'pack';
    return {
      data: { id, form: kind, folder, files, next },
      text: (paint) =>
        [
          `Created the ${kind} ${paint.strong(id)}:`,
          ...files.map((file) => `  ${relative('', file)}`),
          '',
          `Next: ${next}`,
        ].join('\n'),
    };
  },
};

/** Neither the folder nor the path that its route would stand under may belong to somebody. */
function assertFree(id: string, folder: string, product: Product): void {
  if (existsSync(folder)) {
    throw errors.folder_exists({ folder });
  }
  const path = `/api/v1/${id}`;
  const { embedded, roots } = pluginSources(product, '');
  for (const other of discover({
    embedded,
    roots: roots.filter(({ origin }) => origin === 'shipped'),
  }).values()) {
    if (other.id === id || readManifest(other).mounts.includes(path)) {
      throw errors.plugin_taken({
        id: other.id,
        detail: other.id === id ? 'this id' : `the path ${path}`,
      });
    }
  }
}
