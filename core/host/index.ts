export { thrownBy } from './context/contributed.ts';
export { packPoints } from './context/pack-points.ts';
export { hostErrors } from './errors.ts';
export { type Bundle, type Bundler, workersIn } from './code/compile.ts';
export type { PluginRoot, PluginSources } from './folder/discover.ts';
export { lentLater, lentNames, type SharedModules } from './code/shared.ts';
export type { PluginReport } from './explain.ts';
export { folderInMemory, folderOnDisk, type PluginFolder } from './folder/folder.ts';
export { discover } from './folder/discover.ts';
export { migrationsOf } from './folder/migrations-of.ts';
export { PluginHost } from './host.ts';
export type {
  HostMemory,
  HostPorts,
  Migration,
  Own,
  PluginThread,
  QuarantineEntry,
} from './context/ports.ts';
export { manifestReader, type ReadManifest } from './folder/read-manifest.ts';
export type { Misfit, Schemas } from './folder/schemas.ts';
export { type Attempt, pluginStates, type PluginState, type Stage } from './record.ts';
export { verifyIntegrity } from './folder/verify-integrity.ts';
