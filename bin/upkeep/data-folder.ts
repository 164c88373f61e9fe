import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { bootSettings } from '../../core/boot/settings/read-settings.ts';
import { ajvSchemas } from '../../core/boot/settings/schemas.ts';
import type { Environment } from '../../core/boot/settings/settings.ts';
import { databaseName } from '../../core/storage/index.ts';
import { currentProduct } from '../product/product.ts';
import { errors } from './errors.ts';

/** Opens a data folder for commands that work on it directly, and not through a running svc. */
export async function openDataFolder(environment: Environment) {
  const product = await currentProduct();
  const { dataDir, settings } = bootSettings(product, environment, { schemas: ajvSchemas });
  const url = settings.get<string>('data.database_url');
  return { product, dataDir, databaseUrl: url === '' ? undefined : url };
}

/** A backup of nothing would be an empty database that looks like one. */
export function assertHasData({
  dataDir,
  databaseUrl,
}: {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
}): void {
  if (databaseUrl === undefined && !existsSync(join(dataDir, databaseName))) {
    throw errors.no_data({ dataDir });
  }
}
