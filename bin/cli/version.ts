import { isSea } from 'node:sea';

import type { Command } from 'svc/cli';
import { version } from '../product/product.ts';
import { builtInKey } from '../upkeep/update/release-key.ts';

export const command: Command = {
  operands: [],
  options: {},
  about: '',
  example: 'svc version --json',

  async run() {
    const releaseKey = await builtInKey();
    const platform = `${process.platform}-${process.arch}`;
    return {
      data: {
        version,
        node: process.version,
        platform,
        packaging: isSea() ? 'binary' : 'source',
        ...(releaseKey !== undefined && { release_key: releaseKey }),
      },
      text: () =>
        `svc ${version} (${isSea() ? 'single binary' : 'from source'}, node ${process.version}, ${platform})`,
    };
  },
};
