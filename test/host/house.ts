import 'reflect-metadata';

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

import { container } from 'tsyringe';

import { sourceBundler } from '../../bin/bundler/sources.ts';
import { ajvSchemas } from '../../core/boot/settings/schemas.ts';
import { readManifest } from '../../bin/manifest/read-manifest.ts';
import { sharedModules } from '../../core/boot/shared-modules.ts';
import { type HostMemory, PluginHost, type QuarantineEntry } from '../../core/host/index.ts';
import type { HostPorts } from '../../core/host/context/ports.ts';
import { routeKey } from '../../core/http/routes/declaration.ts';
import { Registry } from '../../core/registry/index.ts';
import type { Logger } from '../../core/sdk/index.ts';

export interface TestHouse {
  readonly host: PluginHost;
  readonly registry: Registry;
  readonly memory: HostMemory;
  readonly clock: { time: number };
  readonly lines: string[];
  readonly pluginsDir: string;
  /** Writes a plugin's files; the manifest gets what every plugin must have. */
  plugin(id: string, manifest: Record<string, unknown>, files?: Record<string, string>): void;
  remove(id: string): void;
}

const shared = sharedModules;

/** A host with everything around it in memory: plugins are real folders, really compiled and evaluated. */
export function testHouse(t: TestContext, overrides: Partial<HostPorts> = {}): TestHouse {
  const pluginsDir = mkdtempSync(join(tmpdir(), 'svc-host-'));
  const clock = { time: 1_000_000 };
  const lines: string[] = [];
  const line = (_fields: object, message: string): void => void lines.push(message);
  const log: Logger = { debug: line, info: line, warn: line, error: line };
  const registry = new Registry();
  const memory = overrides.memory ?? volatileMemory();
  const host = new PluginHost({
    registry,
    container: container.createChildContainer(),
    sources: { roots: [{ path: pluginsDir, origin: 'shipped' }], embedded: [] },
    runsOn: 'manager',
    schemas: ajvSchemas,
    readManifest,
    shared,
    bundler: sourceBundler(join(pluginsDir, '.cache')),
    clock: { now: () => clock.time, monotonic: () => performance.now() },
    ids: { uuid: () => 'id', token: () => 'token' },
    memory,
    log: () => log,
    dataDir: (id) => join(pluginsDir, '.data', id),
    settings: () => ({ get: () => undefined as never, watch: () => () => undefined }),
    migrate: async () => undefined,
    tables: () => ({}) as never,
    secrets: () => ({ seal: (_place, plain) => plain, open: (_place, sealed) => sealed }),
    metrics: () => ({
      counter: () => ({ add: () => undefined }),
      gauge: () => ({ set: () => undefined }),
      histogram: () => ({ observe: () => undefined }),
    }),
    fetch: async (url) => {
      throw new Error(`no network in this test, not even for ${url}`);
    },
    emit: () => undefined,
    checkRoute: routeKey,
    launchThread: () => {
      throw new Error('no threads in this test');
    },
    packRestarted: () => undefined,
    ...overrides,
  });
  t.after(async () => {
    await host.close();
    rmSync(pluginsDir, { recursive: true, force: true });
  });
  return {
    host,
    registry,
    memory,
    clock,
    lines,
    pluginsDir,
    plugin(id, manifest, files = {}) {
      const all: Record<string, string> = {
        'plugin.json': JSON.stringify({
          id,
          version: '1.0.0',
          title: id,
          description: `Fixture ${id}.`,
          engines: { host: '^1.0.0' },
          ...manifest,
        }),
        ...files,
      };
      for (const [name, content] of Object.entries(all)) {
        const file = join(pluginsDir, id, name);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content);
      }
    },
    remove: (id) => rmSync(join(pluginsDir, id), { recursive: true }),
  };
}

export function volatileMemory(): HostMemory {
  const disabled = new Map<string, string>();
  const quarantined = new Map<string, QuarantineEntry>();
  const held = new Map<string, string>();
  const keep =
    <T>(map: Map<string, T>) =>
    (id: string, value: T | undefined) =>
      void (value === undefined ? map.delete(id) : map.set(id, value));
  return {
    disabled: () => disabled,
    quarantined: () => quarantined,
    setDisabled: keep(disabled),
    setQuarantine: keep(quarantined),
    setActivating: () => undefined,
    lastDeath: () => undefined,
    held: (id) => held.get(id),
    setHeld: keep(held),
  };
}

/** Source of a plugin whose activate() has this body; `sdk` and `ctx` are in reach. */
export const activating = (body: string, more = ''): string =>
  `import * as sdk from 'svc/sdk';\nexport default sdk.definePlugin({ async activate(ctx: sdk.PluginContext) { ${body} }, ${more} });\n`;

/** Source of a plugin that provides `service`, with a method that names version and generation. */
export const providing = (service: string, text = 'v'): string =>
  activating(
    `ctx.services.provide(sdk.defineService<{ name(): string }>('${service}'), () => ({ name: () => '${text}' + ctx.generation }));`,
  );
