export * from './draft.ts';
export * from './generation.ts';
export * from './handle.ts';
export * from './leases.ts';
export * from './pin.ts';
export * from './registry.ts';
export * from './scope.ts';
export * from './snapshot.ts';
export { errors as registryErrors } from './errors.ts';
