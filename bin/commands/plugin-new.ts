import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isSea } from 'node:sea';

import { discover, readManifest } from '../../core/host/index.ts';
import { SvcError } from '../../core/sdk/index.ts';
import type { Command } from '../cli/command.ts';
import { usageFailure } from '../cli/failure.ts';
import { currentProduct } from '../product.ts';
import { scaffold } from '../scaffold/scaffold.ts';

export const command: Command = {
  operands: ['<id>'],
  options: { dir: { value: 'dir', about: 'the folder that gets the new folder; default: plugins/ of the svc you are in, else here' } },
  about: 'What it makes works at once: "npm test" in the same tree runs its test.',
  example: 'svc plugin new greeter',

  async run(call) {
    const id = call.operand(0);
    if (!/^[a-z][a-z0-9-]{1,40}$/.test(id)) {
      throw usageFailure(`"${id}" cannot be the id of a plugin: 2 to 41 lower-case letters, digits and dashes, a letter first`);
    }
    if (isSea()) {
      throw new SvcError('invalid_argument', 'a plugin is written beside the source of svc: run "svc plugin new" in a checkout of it');
    }
    const { root } = await currentProduct();
    const shipped = join(root, 'plugins');
    const here = resolve('.');
    const parent = resolve(call.value('dir') ?? (`${here}${sep}`.startsWith(root.endsWith(sep) ? root : root + sep) ? shipped : here));
    const folder = join(parent, id);
    assertFree(id, folder, shipped);
    const files = scaffold({ id, folder, root, inside: parent === shipped });
    const next = parent === shipped ? `npm test -- plugins/${id}` : `cd ${relative('', folder) || '.'} && npm test`;
    const shown = (file: string): string => relative('', file) || basename(file);
    return {
      data: { id, folder, files, next },
      text: (paint) => [`Made ${paint.strong(id)} in ${shown(folder) || dirname(folder)}:`, ...files.map((file) => `  ${shown(file)}`), '', `Next: ${next}`].join('\n'),
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
