export { type Bundle, type Bundler, workersIn } from './compile.ts';
export type { PluginRoot, PluginSources } from './discover.ts';
export { lentLater, lentNames, type SharedModules } from './shared.ts';
export type { PluginReport } from './explain.ts';
export { folderInMemory, folderOnDisk, type PluginFolder } from './folder.ts';
export { discover } from './discover.ts';
export { PluginHost } from './host.ts';
export type {
  HostMemory,
  HostPorts,
  Migration,
  Own,
  PluginThread,
  QuarantineEntry,
  RunningWatch,
  ThreadLaunch,
  WatchFolders,
  WatchOptions,
} from './ports.ts';
export { manifestReader, type ReadManifest } from './read-manifest.ts';
export type { Misfit, SchemaCheck, Schemas } from './schemas.ts';
export { type Attempt, pluginStates, type PluginState, type Stage, type Strike } from './record.ts';
export { verifyIntegrity } from './verify-integrity.ts';
