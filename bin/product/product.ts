import { readFileSync } from 'node:fs';
import { isSea } from 'node:sea';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Product } from '../../core/boot/settings/product.ts';
import packageJson from '../../package.json' with { type: 'json' };

/** Folder with the compiled threads; only there when bin/dev/compile.mjs made this program. */
declare const SVC_THREADS: string | undefined;

export const version = packageJson.version;

/** Returns the product being run: this checkout, or the contents of the single binary. */
export async function currentProduct(): Promise<Product> {
  if (isSea()) {
    const { embeddedProduct } = await import('./embedded.ts');
    return { ...embeddedProduct(version), beside: [dirname(process.execPath), process.cwd()] };
  }
  const { productFromSource } = await import('../../core/boot/settings/product.ts');
  const product: Product = {
    ...productFromSource(fileURLToPath(new URL('../..', import.meta.url))),
    beside: [process.cwd()],
  };
  return typeof SVC_THREADS === 'string'
    ? { ...product, thread: (name) => readFileSync(`${SVC_THREADS}/${name}.cjs`, 'utf8') }
    : product;
}
