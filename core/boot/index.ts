export { bootSettings, type BootSettings } from './boot-settings.ts';
export { type House, type HouseOptions, startHouse } from './house.ts';
export { type Census, censusGrowth } from './census.ts';
export { nearest } from './nearest.ts';
export { type EmbeddedAssets, pluginSources, type Product, productFromSource } from './product.ts';
export { type RunningHouse, runningHouse } from './run-file.ts';
export { serve } from './serve.ts';
export type { Environment } from './settings.ts';
export { sharedModules } from './shared-modules.ts';
