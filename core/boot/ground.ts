import { mkdirSync } from 'node:fs';

import type { PluginSources, ReadManifest, Schemas, SharedModules } from '../host/index.ts';
import { createLogs, Observers, type LogLevel, type Logs } from '../observe/index.ts';
import { Registry } from '../registry/index.ts';
import { type Clock, type Ids, messageOf, type SettingDeclaration } from '../sdk/index.ts';
import { keepKnownSettings } from './settings/known-settings.ts';
import { bootSettings } from './settings/read-settings.ts';
import type { Product } from './product.ts';
import type { Environment, Settings } from './settings/settings.ts';

export interface GroundOptions {
  readonly schemas: Schemas;
  /** What plugins are lent, by the name they import it by. */
  readonly shared: SharedModules;
  readonly product: Product;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly writeLog: ((line: string) => void) | undefined;
  readonly sources: PluginSources | undefined;
}

/** What either house stands on, that of the manager and that of an edge: settings, log, an empty registry. */
export interface Ground {
  readonly schemas: Schemas;
  readonly readManifest: ReadManifest;
  readonly shared: SharedModules;
  readonly product: Product;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly settings: Settings;
  readonly dataDir: string;
  readonly logs: Logs;
  readonly observers: Observers;
  readonly registry: Registry;
}

export function layGround(
  { product, environment, clock, ids, writeLog, sources, schemas, shared }: GroundOptions,
  runsOn: 'manager' | 'edge',
  core: Readonly<Record<string, SettingDeclaration>>,
): Ground {
  const { settings, dataDir, readManifest, known, unused } = bootSettings(product, environment, {
    schemas,
    log: () => logs.logger('settings'),
    sources,
    runsOn,
    core,
  });
  const observers = new Observers((error) =>
    logs.logger('observe').error({ event: 'observe.listener_failed', cause: messageOf(error) }, 'observer threw and was unsubscribed'),
  );
  const logs = openLogs(settings, clock, observers, writeLog);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  keepKnownSettings(dataDir, known);
  for (const name of unused) {
    const message = `${name} has no effect: plugin "${known[name]}", which it belongs to, is not installed; install it, or remove the setting`;
    logs.logger('settings').warn({ event: 'settings.plugin_absent', setting: name, plugin: known[name] }, message);
  }
  return { schemas, readManifest, shared, product, clock, ids, settings, dataDir, logs, observers, registry: new Registry() };
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
