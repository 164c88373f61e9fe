import { Draft, Generation, OwnedScope, type ScopeRunner } from '../registry/index.ts';
import type { PluginManifest } from '../sdk/index.ts';

/** Timers of the house itself run unguarded: an error there is a bug of core, and is treated as one. */
const unguarded: ScopeRunner = { tick: async (_label, work) => await work(), task: (_label, work) => work() };

/** A draft for what belongs to the house and not to a plugin: core's own routes and services. */
export function syntheticDraft(id: string, title: string, number: number, actions: PluginManifest['actions'] = {}): Draft {
  const manifest: PluginManifest = {
    id,
    version: '1.0.0',
    title,
    description: title,
    kind: 'area',
    runs_on: ['manager', 'edge'],
    engines: { host: '*' },
    trusted: [],
    requires: [],
    optional: [],
    provides: [],
    mounts: [],
    actions,
    settings: {},
    sealed: [],
    contributes: {},
    routes: [],
    permissions: { read: [] },
    critical: false,
    early: false,
    limits: { activate_ms: 10_000, drain_ms: 5_000, heap_mb: 128, rss_mb: 256, call_ms: 5_000 },
  };
  const generation = new Generation(manifest, number, new OwnedScope(`${id}#${number}`, unguarded));
  generation.committed = true;
  return new Draft(generation);
}

/** Services that a test gives in place of the plugins it leaves out. */
export function standIns(services: ReadonlyMap<string, object>): Draft {
  const draft = syntheticDraft('stand-ins', 'Stand-ins', 1);
  services.forEach((instance, id) => draft.add('services', id, { version: '1.0.0', instance }));
  return draft.seal();
}
