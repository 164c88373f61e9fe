import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { container, type DependencyContainer } from 'tsyringe';

import { Bus } from '../events/index.ts';
import type {
  Bundler,
  HostMemory,
  PluginSources,
  ReadManifest,
  Schemas,
  SharedModules,
} from '../host/index.ts';
import { HealthChecks, type LogLevel, Logs, Observers } from '../observe/index.ts';
import { Outbound, parseAllowed } from '../outbound/index.ts';
import { type Generation, Registry } from '../registry/index.ts';
import {
  type Clock,
  type Counter,
  type Ids,
  messageOf,
  type SettingDeclaration,
} from '../sdk/index.ts';
import { memoryFile } from './memory-file.ts';
import type { Product } from './settings/product.ts';
import { keepKnownSettings } from './settings/known-settings.ts';
import { bootSettings } from './settings/read-settings.ts';
import type { Environment, Settings } from './settings/settings.ts';
import type { TakeDown } from './take-down.ts';

interface BaseOptions {
  readonly schemas: Schemas;
  /** Compiles plugins that come as source, with a cache in this folder. */
  readonly bundler?: ((cacheDir: string) => Bundler) | undefined;
  /** Modules shared with plugins, by import name. */
  readonly shared: SharedModules;
  readonly product: Product;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly writeLog?: ((line: string) => void) | undefined;
  readonly sources?: PluginSources | undefined;
}

/** Parts common to a manager and an agent: settings, log, an empty registry. */
export interface Base {
  readonly bundler: Bundler | undefined;
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

export function openBase(
  { product, environment, clock, ids, writeLog, sources, schemas, shared, bundler }: BaseOptions,
  runsOn: 'manager' | 'edge',
  core: Readonly<Record<string, SettingDeclaration>>,
): Base {
  const { settings, dataDir, readManifest, known, unused } = bootSettings(product, environment, {
    schemas,
    log: () => logs.logger('settings'),
    sources,
    runsOn,
    core,
  });
  const observers = new Observers((error) =>
    logs
      .logger('observe')
      .error(
        { event: 'observe.listener_failed', cause: messageOf(error) },
        'observer threw and was unsubscribed',
      ),
  );
  const logs = openLogs(settings, clock, observers, writeLog);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  keepKnownSettings(dataDir, known);
  for (const name of unused) {
    const message = `${name} has no effect: its plugin "${known[name]}" is not installed; install it, or remove the setting`;
    logs
      .logger('settings')
      .warn({ event: 'settings.plugin_absent', setting: name, plugin: known[name] }, message);
  }
  const bundles = bundler?.(join(dataDir, 'cache', 'bundles'));
  return {
    bundler: bundles,
    schemas,
    readManifest,
    shared,
    product,
    clock,
    ids,
    settings,
    dataDir,
    logs,
    observers,
    registry: new Registry(),
  };
}

function openLogs(
  settings: Settings,
  clock: Clock,
  observers: Observers,
  write: ((line: string) => void) | undefined,
): Logs {
  const format = settings.get<'auto' | 'pretty' | 'json'>('log.format');
  const logs = new Logs({
    level: settings.get<LogLevel>('log.level'),
    format: format === 'auto' ? (process.stdout.isTTY ? 'pretty' : 'json') : format,
    clock,
    observers,
    ...(write && { write }),
  });
  settings.watch<LogLevel>('log.level', (level) => logs.setLevel(level));
  return logs;
}

/** Asks what core and plugins contribute as checks at that moment. */
export const healthOf = ({ registry, clock }: Pick<Base, 'registry' | 'clock'>): HealthChecks =>
  new HealthChecks({
    checks: () =>
      [...registry.seen.checks.values()].map(({ owner, value: { label, probe } }) => {
        return { label, plugin: owner.pluginId, probe };
      }),
    clock,
  });

/** The parts of core that the host of either needs. */
export interface HostParts {
  readonly bus: Bus<Generation>;
  readonly outbound: Outbound;
  readonly memory: HostMemory;
  readonly container: DependencyContainer;
}

export interface Accounts {
  /** An error of a plugin, on its account. */
  readonly strike: (owner: Generation, label: string, error: unknown) => void;
  /** Events that a slow subscriber missed. */
  readonly dropped: Counter;
}

export function openHostParts(
  { settings, dataDir, logs, registry }: Base,
  { strike, dropped }: Accounts,
  takeDown: TakeDown,
  assertOwner?: () => void,
): HostParts {
  const bus = new Bus<Generation>({
    subscriptions: () => registry.current.subscriptions,
    deliver: (owner, label, work) =>
      registry.pinned(owner, work).catch((error: unknown) => strike(owner, label, error)),
    log: logs.logger('events'),
    dropped,
  });
  let reachable = parseAllowed(settings.get<string[]>('outbound.allow_private'));
  takeDown.add(
    settings.watch<string[]>(
      'outbound.allow_private',
      (list) => void (reachable = parseAllowed(list)),
    ),
  );
  const outbound = new Outbound(() => {
    assertOwner?.();
    return reachable;
  });
  takeDown.add(() => outbound.close());
  return {
    bus,
    outbound,
    memory: memoryFile(dataDir),
    container: container.createChildContainer(),
  };
}
