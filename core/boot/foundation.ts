import { join } from 'node:path';

import { createOperatorToken, type OperatorToken } from '../auth/index.ts';
import { createSelfMetrics, type SelfMetrics } from '../observe/index.ts';
import { openStorage, type Safeguard, type Storage } from '../storage/index.ts';
import { coreSettings } from './settings/core-settings.ts';
import { type Ground, type GroundOptions, layGround } from './ground.ts';
import type { TakeDown } from './take-down.ts';
import { storageWriter } from './workers.ts';

/** What stands before the first plugin of the manager: the ground, and the data. */
export interface Foundation extends Ground {
  readonly metrics: SelfMetrics;
  readonly storage: Storage;
  readonly operator: OperatorToken;
}

export interface FoundationOptions extends GroundOptions {
  readonly safeguard: ((dataDir: string) => Safeguard) | undefined;
}

export async function layFoundation(options: FoundationOptions, takeDown: TakeDown): Promise<Foundation> {
  const ground = layGround(options, 'manager', coreSettings);
  const { product, clock, ids, settings, dataDir, logs } = ground;
  const secretKey = settings.get<string>('data.secret_key');
  const storage = await openStorage({
    dataDir,
    appVersion: product.version,
    clock,
    log: logs.logger('storage'),
    startWriter: storageWriter(product),
    safeguard: options.safeguard?.(dataDir),
    ...(product.embedded && { nativeBinding: product.embedded.nativeBinding }),
    ...(secretKey !== '' && { secretKeys: secretKey.split(/[\s,]+/) }),
  });
  takeDown.add(() => storage.close());
  const metrics = createSelfMetrics({ version: product.version });
  takeDown.add(() => metrics.close());
  return { ...ground, metrics, storage, operator: createOperatorToken(join(dataDir, 'keys'), ids) };
}
