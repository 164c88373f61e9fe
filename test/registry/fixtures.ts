import { Draft, Generation, OwnedScope, type ScopeRunner } from '../../core/registry/index.ts';
import type { PluginManifest } from '../../core/sdk/index.ts';

export const plainRunner: ScopeRunner = {
  tick: async (_label, work) => await work(),
  task: (_label, work) => work(),
};

export const manifestOf = (id: string, more: Partial<PluginManifest> = {}): PluginManifest => ({
  id,
  version: '1.0.0',
  title: id,
  description: id,
  kind: 'area',
  runs_on: ['manager'],
  engines: { host: '*' },
  trusted: [],
  requires: [],
  optional: [],
  provides: [],
  mounts: [`/api/v1/${id}`],
  actions: {},
  settings: {},
  sealed: [],
  contributes: {},
  routes: [],
  events: [],
  skills: [],
  permissions: { read: [], hosts: [], network: false, disk_mb: 0 },
  critical: false,
  early: false,
  limits: { activate_ms: 1_000, drain_ms: 200, heap_mb: 64, rss_mb: 128, call_ms: 1_000 },
  ...more,
});

export const generationOf = (
  id: string,
  number = 1,
  more: Partial<PluginManifest> = {},
): Generation =>
  new Generation(manifestOf(id, more), number, new OwnedScope(`${id}#${number}`, plainRunner));

/** A draft of plugin `id` that provides each of `services` with an object that names its generation. */
export function draftOf(id: string, number = 1, services: readonly string[] = []): Draft {
  const draft = new Draft(generationOf(id, number));
  for (const service of services) {
    draft.add('services', service, {
      version: '1.0.0',
      instance: { from: `${id}#${number}`, name: () => `${id}#${number}` },
    });
  }
  return draft;
}
