export * from './connection-test.ts';
export { errors as connectionErrors } from './errors.ts';
export * from './products.ts';
export * from './test-route.ts';
