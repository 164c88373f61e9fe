export { bootSettings, type BootSettings } from './settings/read-settings.ts';
export { boot, type BootOptions, type RunningCore } from './boot.ts';
export { type Census, censusGrowth } from './census.ts';
export { ajvSchemas, readManifest } from './settings/schemas.ts';
export { type EmbeddedAssets, pluginSources, type Product, productFromSource } from './product.ts';
export { type RunningHouse, runningHouse } from './run-file.ts';
export type { Environment } from './settings/settings.ts';
export { sharedModules } from './shared-modules.ts';
