export * from './audit.ts';
export * from './backoff.ts';
export * from './database.ts';
export * from './errors.ts';
export * from './error-catalogue.ts';
export * from './core-services.ts';
export * from './manifest.ts';
export * from './nearest.ts';
export * from './observe.ts';
export * from './outbound.ts';
export * from './pack.ts';
export * from './persona.ts';
export * from './plugin.ts';
export * from './principal.ts';
export * from './route.ts';
export * from './scope.ts';
export * from './skill.ts';
export * from './time.ts';
export * from './tokens.ts';

/** Version of this contract; `engines.host` of a manifest is a range over it. */
export const sdkVersion = '1.0.0';
