import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { unpackedRoot } from './unpacked.ts';

/**
 * Returns `import.meta.url` of a module inside the binary: where it would be in the unpacked tree,
 * next to the files it opens.
 */
export const addressOf = (module: string): string =>
  pathToFileURL(join(unpackedRoot(), module)).href;
