import { container, type DependencyContainer } from 'tsyringe';

import { Bus } from '../events/index.ts';
import type { HostMemory } from '../host/index.ts';
import { Outbound, parseAllowed } from '../outbound/index.ts';
import type { Generation } from '../registry/index.ts';
import type { Counter } from '../sdk/index.ts';
import type { Ground } from './ground.ts';
import { memoryFile } from './memory-file.ts';
import type { TakeDown } from './take-down.ts';

/** The rooms that every host has around it. */
export interface Commons {
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

export function openCommons({ settings, dataDir, logs, registry }: Ground, { strike, dropped }: Accounts, takeDown: TakeDown): Commons {
  const bus = new Bus<Generation>({
    subscriptions: () => registry.current.subscriptions,
    deliver: (owner, label, work) => registry.pinned(owner, work).catch((error: unknown) => strike(owner, label, error)),
    log: logs.logger('events'),
    dropped,
  });
  let reachable = parseAllowed(settings.get<string[]>('outbound.allow_private'));
  takeDown.add(settings.watch<string[]>('outbound.allow_private', (list) => void (reachable = parseAllowed(list))));
  const outbound = new Outbound(() => reachable);
  takeDown.add(() => outbound.close());
  return { bus, outbound, memory: memoryFile(dataDir), container: container.createChildContainer() };
}
