import { join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';

import type { Product } from '../../core/boot/index.ts';
import { addonFile, pluginAsset, threadAsset } from './contents.ts';
import { contents, unpackedRoot } from './unpacked.ts';

/** What the single binary carries, as svc wants it. */
export function embeddedProduct(version: string): Product {
  const { plugins, threads } = contents();
  const root = unpackedRoot();
  return {
    version,
    root,
    thread: (name) => (threads.includes(name) ? getAsset(threadAsset(name), 'utf8') : undefined),
    embedded: {
      plugins: new Map(
        Object.entries(plugins).map(([id, files]) => [
          id,
          new Map(files.map((file) => [file, Buffer.from(getRawAsset(pluginAsset(id, file)) as ArrayBuffer)])),
        ]),
      ),
      nativeBinding: join(root, addonFile),
    },
  };
}
