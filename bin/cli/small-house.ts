import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Environment, type RunningCore, pluginSources, type Product, boot } from '../../core/boot/index.ts';
import { sourceBundler } from '../bundler/sources.ts';
import { currentProduct } from '../product.ts';
import { clientOf, type HouseClient } from './house-client.ts';

/** Asks a house that has nothing but the named plugins, and is gone afterwards: the answer comes from the code that gives it otherwise, and needs no svc that runs. */
export async function askEmptyHouse<R>(plugins: readonly string[], ask: (house: HouseClient) => Promise<R>): Promise<R> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-empty-'));
  let house: RunningCore | undefined;
  try {
    house = await boot(await houseOver(join(folder, 'data'), plugins, {}));
    return await ask(clientOf({ url: house.url, token: house.operatorToken }));
  } finally {
    await house?.stop('the question is answered');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a house over a data folder is started with, of the named plugins alone. */
export async function houseOver(dataDir: string, plugins: readonly string[], { SVC_SECRET_KEY, SVC_SECRET_KEY_FILE }: Environment) {
  const product = await currentProduct();
  const environment = { SVC_DATA_DIR: dataDir, SVC_HTTP_ADDR: '127.0.0.1:0', SVC_LOG_LEVEL: 'error', SVC_SECRET_KEY, SVC_SECRET_KEY_FILE };
  return { product, environment, bundler: sourceBundler, sources: onlySources(product, dataDir, plugins), watch: false, writeLog: () => undefined };
}

function onlySources(product: Product, dataDir: string, plugins: readonly string[]) {
  const { roots, embedded } = pluginSources(product, dataDir);
  return { roots: roots.map((root) => ({ ...root, only: plugins })), embedded: embedded.filter(({ id }) => plugins.includes(id)) };
}
