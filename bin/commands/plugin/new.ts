import { existsSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { isSea } from 'node:sea';

import { discover } from '../../../core/host/index.ts';
import { readManifest } from '../../bundler/read-manifest.ts';
import { SvcError } from '../../../core/sdk/index.ts';
import type { Command } from '../../cli/command.ts';
import { usageFailure } from '../../cli/failure.ts';
import { currentProduct } from '../../product.ts';
import { scaffold } from '../../scaffold/scaffold.ts';

/** Names that core's own parts go by. */
const reserved: ReadonlySet<string> = new Set(['core', 'sqlite', 'shipped-files']);

export const command: Command = {
  operands: ['<id>'],
  options: { dir: { value: 'dir', about: 'the folder that gets the new folder; default: plugins/ of the svc you are in, else here' } },
  about: 'In plugins/ of svc it is an area, anywhere else a pack that runs in a process of its own. Either works at once, and its test passes.',
  example: 'svc plugin new greeter',

  async run(call) {
    const id = call.operand(0);
    if (!/^[a-z][a-z0-9-]{1,40}$/.test(id) || reserved.has(id)) {
      throw usageFailure(
        `"${id}" cannot be the id of a plugin: 2 to 41 lower-case letters, digits and dashes, a letter first, and no name that svc uses itself`,
      );
    }
    if (isSea()) {
      throw new SvcError('invalid_argument', 'a plugin is written with the source of svc at hand: run "svc plugin new" from a checkout of it');
    }
    const root = resolve((await currentProduct()).root);
    const shipped = join(root, 'plugins');
    const parent = resolve(call.value('dir') ?? (`${resolve('.')}${sep}`.startsWith(root + sep) ? shipped : '.'));
    const form = parent === shipped ? 'area' : 'pack';
    const folder = join(parent, id);
    assertFree(id, folder, shipped);
    const files = scaffold({ id, folder, root, form });
    const next = form === 'area' ? `npm test -- plugins/${id}` : `cd ${relative('', folder)} && npm test`;
    return {
      data: { id, form, folder, files, next },
      text: (paint) => [`Made the ${form} ${paint.strong(id)}:`, ...files.map((file) => `  ${relative('', file)}`), '', `Next: ${next}`].join('\n'),
    };
  },
};

/** Neither the folder nor the path that its route would stand under may belong to somebody. */
function assertFree(id: string, folder: string, shipped: string): void {
  if (existsSync(folder)) {
    throw new SvcError('conflict', `${folder} exists already: choose another id, or delete it first`);
  }
  const path = `/api/v1/${id}`;
  for (const other of discover({ roots: [{ path: shipped, origin: 'shipped' }], embedded: [] }).values()) {
    if (other.id === id || readManifest(other).mounts.includes(path)) {
      throw new SvcError('conflict', `the plugin ${other.id} already has ${other.id === id ? 'this id' : `the path ${path}`}: choose another id`);
    }
  }
}
