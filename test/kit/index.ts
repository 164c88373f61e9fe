import 'reflect-metadata';

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import type { PluginHost } from '../../core/host/index.ts';
import type { Registry } from '../../core/registry/index.ts';
import { type Clock, type ServiceToken, SvcError } from '../../core/sdk/index.ts';
import { databaseOf } from './database.ts';
import { builtThread } from './built-thread.ts';
import { type Census, census, censusGrowth } from './census.ts';
import { compiledOnce } from './compiled-once.ts';
import { boot } from '../../core/boot/boot.ts';
import { productFromSource } from '../../core/boot/settings/product.ts';
import { packRootOf, rootOf, testedRoot } from './roots.ts';
import { quickPasswords } from './quick-passwords.ts';
import { standIns } from './stand-ins.ts';
import { programPoints } from '../../bin/manifest/points.ts';
import { sourceBundler } from '../../bin/bundler/sources.ts';
import { watchFolders } from '../../bin/serve/watcher/watch.ts';

export { startTestEdge, type TestEdge, type TestEdgeOptions } from './edge.ts';
export { startThreadForTest, type TestThread } from './thread.ts';

export interface TestHostOptions {
  /** Folders of plugins, or ids of shipped ones. */
  readonly plugins: readonly string[];
  /** Folders of packs, as if they lay in the data folder. */
  readonly packs?: readonly string[];
  /** Stand-ins for services whose plugins are left out, by service id. */
  readonly services?: Readonly<Record<string, object>>;
  /** Environment variables: `{ SVC_LOG_LEVEL: 'debug' }`. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Data folder kept by its owner; by default a fresh one, removed at the end. */
  readonly dataDir?: string;
  readonly watch?: boolean;
  /** Program and first arguments of the agent of this machine; default: it has none. */
  readonly agent?: readonly string[];
}

/** Real host on a loopback port with a real database, for the tests of a plugin. */
export interface TestHost {
  readonly url: string;
  readonly dataDir: string;
  /** The operator's token: may do everything. */
  readonly token: string;
  readonly host: PluginHost;
  readonly registry: Registry;
  census(): Census;
  /** Census of this host before its first plugin. */
  readonly empty: Census;
  /** Log lines so far. */
  readonly lines: readonly string[];
  /**
   * Fetches a path of this host as the operator, unless `init` brings an Authorization header of
   * its own.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The body of a successful JSON answer; throws with the answer otherwise. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the caller's assertion says
  json<T = any>(path: string, init?: RequestInit): Promise<T>;
  /** The provider of a service, as a plugin would see it. */
  service<T extends object>(token: ServiceToken<T>): T;
  reload(id: string): Promise<unknown>;
  settled(): Promise<void>;
  /**
   * Examines the host when the test ends, while it still runs; not if the test itself has stopped
   * it.
   */
  atEnd(look: () => Promise<void>): void;
  stop(): Promise<void>;
}

/** An installation without anything of its own but SQLite, which processes of packs look for in it. */
function emptyProduct(dataDir: string): string {
  const root = join(dataDir, 'no-product');
  const sqlite = join(root, 'node_modules/better-sqlite3');
  mkdirSync(sqlite, { recursive: true });
  // No link to the packages: tests look at all that is in a data folder.
  writeFileSync(
    join(sqlite, 'index.js'),
    `module.exports = require(${JSON.stringify(join(testedRoot, 'node_modules/better-sqlite3'))});\n`,
  );
  return root;
}

/** Starts a host with these plugins alone; it stops when the test `t` ends. */
export async function startTestHost(
  t: Pick<TestContext, 'after'>,
  options: TestHostOptions,
): Promise<TestHost> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'svc-test-'));
  const lines: string[] = [];
  const passwords = quickPasswords();
  let empty: Census = {};
  const house = await boot({
    beforePlugins(parts) {
      parts.registry.publish({ add: [standIns(options.services ?? {})] });
      empty = census(parts);
    },
    bundler: (cacheDir) => compiledOnce(sourceBundler(cacheDir)),
    // Of a disk that fills test/storage tells.
    disk: { ballastBytes: 0, startReserveBytes: 0 },
    product: {
      ...productFromSource(testedRoot),
      root: emptyProduct(dataDir),
      thread: builtThread,
    },
    environment: {
      SVC_HTTP_ADDR: '127.0.0.1:0',
      SVC_DATA_DIR: dataDir,
      SVC_LOG_FORMAT: 'json',
      ...(await databaseOf(dataDir)),
      ...options.environment,
    },
    sources: {
      embedded: [],
      roots: [
        ...options.plugins.map(rootOf),
        ...(options.packs ?? []).map(packRootOf),
        { path: join(dataDir, 'packs'), origin: 'data' },
      ],
    },
    checkResponses: true,
    points: programPoints,
    ...(options.watch === true && { watch: watchFolders }),
    writeLog: (line) => void lines.push(line),
    ...(options.clock && { clock: options.clock }),
    ...(options.agent && { agent: options.agent }),
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopped ??= house.stop('the test has ended').finally(passwords.end));
  const looks: (() => Promise<void>)[] = [];
  t.after(async () => {
    try {
      for (const look of stopped ? [] : looks) {
        await look();
      }
    } finally {
      await stop();
      if (options.dataDir === undefined) {
        rmSync(dataDir, { recursive: true, force: true });
      }
    }
  });
  const fetchPath = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) {
      headers.set('authorization', `Bearer ${house.operatorToken}`);
    }
    if (typeof init.body === 'string' && !headers.has('content-type')) {
      headers.set('content-type', 'application/json');
    }
    return fetch(house.url + path, { ...init, headers });
  };
  return {
    url: house.url,
    dataDir,
    token: house.operatorToken,
    host: house.host,
    registry: house.registry,
    census: () => census(house.parts),
    empty,
    lines,
    fetch: fetchPath,
    async json<T>(path: string, init?: RequestInit) {
      const answer = await fetchPath(path, init);
      if (!answer.ok) {
        throw new Error(
          `${init?.method ?? 'GET'} ${path} answered ${answer.status}: ${await answer.text()}`,
        );
      }
      return (answer.status === 204 ? undefined : await answer.json()) as T;
    },
    service: <T extends object>(token: ServiceToken<T>) => {
      const provider = house.registry.current.services.get(token.id);
      if (!provider) {
        throw new SvcError('unavailable', `service ${token.id} has no provider in this test`);
      }
      return provider.value.instance as T;
    },
    reload: (id) => house.host.reload(id),
    settled: () => house.host.settled(),
    atEnd: (look) => void looks.push(look),
    stop,
  };
}

/**
 * Takes every plugin of the test down when the test ends and fails it for whatever one leaves behind: an effect that
 * could not be undone, or anything the census counts.
 */
export function useNoLeaks(t: Pick<TestContext, 'after'>, house: TestHost): void {
  let left: readonly string[] = [];
  house.atEnd(async () => {
    const own = house.host.list().filter(({ state }) => state === 'active');
    for (const { id } of own) {
      await house.host.disable(id, { cascade: true });
    }
    await house.settled();
    const residue = own.flatMap(({ id }) => house.host.explain(id).residue ?? []);
    left = [...residue, ...censusGrowth(house.empty, house.census())];
  });
  // Hooks run in the order they were added: the house has stopped by now, and the test may fail.
  t.after(() => {
    if (left.length > 0) {
      throw new Error(`plugins left something behind: ${left.join('; ')}`);
    }
  });
}
