export { bootSettings } from './settings/read-settings.ts';
export { boot, type BootOptions, type RunningCore } from './boot.ts';
export { ajvSchemas } from './settings/schemas.ts';
export { pluginSources, type Product, productFromSource } from './settings/product.ts';
export type { Environment } from './settings/settings.ts';
