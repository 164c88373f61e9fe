import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { unpackedRoot } from './unpacked.ts';

/** `import.meta.url` of a module inside the binary: where it would stand in the unpacked tree, beside the files it asks for. */
export const addressOf = (module: string): string =>
  pathToFileURL(join(unpackedRoot(), module)).href;
