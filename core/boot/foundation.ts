import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { createOperatorToken, type OperatorToken } from '../auth/index.ts';
import type { PluginSources } from '../host/index.ts';
import { createLogs, createObservers, createSelfMetrics, type LogLevel, type Logs, type Observers, type SelfMetrics } from '../observe/index.ts';
import { Registry } from '../registry/index.ts';
import { type Clock, type Ids, messageOf } from '../sdk/index.ts';
import { openStorage, type Storage } from '../storage/index.ts';
import { bootSettings } from './boot-settings.ts';
import type { Product } from './product.ts';
import type { Environment, Settings } from './settings.ts';
import type { TakeDown } from './take-down.ts';
import { storageWorkers } from './workers.ts';

export interface FoundationOptions {
  readonly product: Product;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly writeLog: ((line: string) => void) | undefined;
  readonly sources: PluginSources | undefined;
}

/** What stands before the first plugin: settings, log, data. */
export interface Foundation {
  readonly product: Product;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly settings: Settings;
  readonly dataDir: string;
  readonly logs: Logs;
  readonly metrics: SelfMetrics;
  readonly observers: Observers;
  readonly storage: Storage;
  readonly operator: OperatorToken;
  readonly registry: Registry;
}

export async function layFoundation({ product, environment, clock, ids, writeLog, sources }: FoundationOptions, takeDown: TakeDown): Promise<Foundation> {
  const { settings, dataDir } = bootSettings(product, environment, { log: () => logs.logger('settings'), sources });
  const observers = createObservers((error) =>
    logs.logger('observe').error({ cause: messageOf(error) }, 'who watched the house broke and is told nothing any more'),
  );
  const logs = openLogs(settings, clock, observers, writeLog);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const secretKey = settings.get<string>('data.secret_key');
  const storage = await openStorage({
    dataDir,
    appVersion: product.version,
    clock,
    log: logs.logger('storage'),
    startWorker: storageWorkers(product),
    ...(product.embedded && { nativeBinding: product.embedded.nativeBinding }),
    ...(secretKey !== '' && { secretKeys: secretKey.split(/[\s,]+/) }),
  });
  takeDown.add(() => storage.close());
  const metrics = createSelfMetrics({ version: product.version });
  takeDown.add(() => metrics.close());
  return {
    product,
    clock,
    ids,
    settings,
    dataDir,
    logs,
    metrics,
    observers,
    storage,
    operator: createOperatorToken(join(dataDir, 'keys'), ids),
    registry: new Registry(),
  };
}

function openLogs(settings: Settings, clock: Clock, observers: Observers, write: ((line: string) => void) | undefined): Logs {
  const format = settings.get<'auto' | 'pretty' | 'json'>('log.format');
  const logs = createLogs({
    level: settings.get<LogLevel>('log.level'),
    format: format === 'auto' ? (process.stdout.isTTY ? 'pretty' : 'json') : format,
    clock,
    observers,
    ...(write && { write }),
  });
  settings.watch<LogLevel>('log.level', (level) => logs.setLevel(level));
  return logs;
}
