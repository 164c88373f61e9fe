import { join } from 'node:path';

import type { Product } from '../../core/boot/index.ts';
import { carried } from './carried.ts';
import { addonFile, pluginAsset, threadAsset } from './contents.ts';
import { contents, unpackedRoot } from './unpacked.ts';

/** Returns the product contained in the single binary. */
export function embeddedProduct(version: string): Product {
  const { plugins, threads } = contents();
  const root = unpackedRoot();
  return {
    version,
    root,
    thread: (name) => (threads.includes(name) ? carried().text(threadAsset(name)) : undefined),
    embedded: {
      plugins: new Map(
        Object.entries(plugins).map(([id, files]) => [
          id,
          {
            keys: () => files.values(),
            get: (file: string) =>
              files.includes(file) ? carried().bytes(pluginAsset(id, file)) : undefined,
          },
        ]),
      ),
      nativeBinding: join(root, addonFile),
    },
  };
}
