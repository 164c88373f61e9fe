import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

import type { Product } from '../core/boot/index.ts';
import packageJson from '../package.json' with { type: 'json' };

export const version = packageJson.version;

/** What is being run: this checkout, or what the single binary carries. */
export async function currentProduct(): Promise<Product> {
  if (isSea()) {
    const { embeddedProduct } = await import('./packaging/embedded.ts');
    return embeddedProduct(version);
  }
  const { productFromSource } = await import('../core/boot/index.ts');
  return productFromSource(fileURLToPath(new URL('..', import.meta.url)));
}
