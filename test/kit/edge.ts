import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import type { PluginHost } from '../../core/host/index.ts';
import type { Registry } from '../../core/registry/index.ts';
import { type Clock, type ServiceToken, SvcError } from '../../core/sdk/index.ts';
import { bootAgent } from '../../bin/agent/agent.ts';
import { productFromSource } from '../../core/boot/settings/product.ts';
import { rootOf, testedRoot } from './roots.ts';
import { standIns } from './stand-ins.ts';

export interface TestEdgeOptions {
  /** Folders of plugins, or ids of shipped ones. */
  readonly plugins: readonly string[];
  /** Stand-ins for services whose plugins are left out, by service id. */
  readonly services?: Readonly<Record<string, object>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Data folder kept by its owner; by default a fresh one, removed at the end. */
  readonly dataDir?: string;
}

/** Host of an agent, for the tests of a plugin that runs on edges. */
export interface TestEdge {
  readonly dataDir: string;
  readonly host: PluginHost;
  readonly registry: Registry;
  /** Log lines so far. */
  readonly lines: readonly string[];
  service<T extends object>(token: ServiceToken<T>): T;
  /** Returns the contributions of plugins to an extension point, as its owner sees them. */
  contributions<T>(point: { readonly id: string }): readonly T[];
  reload(id: string): Promise<unknown>;
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an agent's host with these plugins alone; it stops when the test `t` ends. */
export async function startTestEdge(
  t: Pick<TestContext, 'after'>,
  options: TestEdgeOptions,
): Promise<TestEdge> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'svc-edge-'));
  const lines: string[] = [];
  const house = await bootAgent({
    product: { ...productFromSource(testedRoot), root: join(dataDir, 'no-product') },
    environment: { SVC_DATA_DIR: dataDir, SVC_LOG_FORMAT: 'json', ...options.environment },
    sources: { embedded: [], roots: options.plugins.map(rootOf) },
    beforePlugins: (registry) => registry.publish({ add: [standIns(options.services ?? {})] }),
    writeLog: (line) => void lines.push(line),
    ...(options.clock && { clock: options.clock }),
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= house.stop('the test has ended'));
  t.after(async () => {
    await stop();
    if (options.dataDir === undefined) {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
  return {
    dataDir,
    host: house.host,
    registry: house.registry,
    lines,
    service: <T extends object>(token: ServiceToken<T>) => {
      const provider = house.registry.current.services.get(token.id);
      if (!provider) {
        throw new SvcError('unavailable', `service ${token.id} has no provider in this test`);
      }
      return provider.value.instance as T;
    },
    contributions: <T>(point: { readonly id: string }) =>
      [...house.registry.current.contributions.values()]
        .filter(({ value }) => value.point === point.id)
        .map(({ value }) => value.value as T),
    reload: (id) => house.host.reload(id),
    settled: () => house.host.settled(),
    stop,
  };
}
