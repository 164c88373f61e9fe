import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  type Environment,
  type RunningCore,
  pluginSources,
  type Product,
  boot,
} from '../../core/boot/index.ts';
import { sourceBundler } from '../bundler/sources.ts';
import { currentProduct } from '../product/product.ts';
import { connect } from './connect.ts';
import type { ApiClient, Reachable } from 'svc/cli';
import type { Clock } from 'svc/sdk';

/** Asks a svc that has nothing but the named plugins, and is gone afterwards: the answer comes from the code that gives it otherwise, and needs no svc that runs. */
export async function askEmptySvc<R>(
  plugins: readonly string[],
  ask: (client: ApiClient, at: Reachable) => Promise<R>,
  { clock }: { readonly clock?: Clock } = {},
): Promise<R> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-empty-'));
  let core: RunningCore | undefined;
  try {
    const options = await bootOptionsOver(join(folder, 'data'), plugins, {});
    core = await boot({ ...options, ...(clock !== undefined && { clock }) });
    const at = { url: core.url, token: core.operatorToken };
    return await ask(connect(at), at);
  } finally {
    await core?.stop('the question is answered');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the boot options of a svc over a data folder, with the named plugins only. */
export async function bootOptionsOver(
  dataDir: string,
  plugins: readonly string[],
  { SVC_SECRET_KEY, SVC_SECRET_KEY_FILE }: Environment,
) {
  const product = await currentProduct();
  const environment = {
    SVC_DATA_DIR: dataDir,
    SVC_HTTP_ADDR: '127.0.0.1:0',
    SVC_LOG_LEVEL: 'error',
    SVC_SECRET_KEY,
    SVC_SECRET_KEY_FILE,
  };
  return {
    product,
    environment,
    bundler: sourceBundler,
    sources: onlySources(product, dataDir, plugins),
    writeLog: () => undefined,
  };
}

function onlySources(product: Product, dataDir: string, plugins: readonly string[]) {
  const { roots, embedded } = pluginSources(product, dataDir);
  return {
    roots: roots.map((root) => ({ ...root, only: plugins })),
    embedded: embedded.filter(({ id }) => plugins.includes(id)),
  };
}
