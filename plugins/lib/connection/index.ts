export * from './connection-test.ts';
export * from './products.ts';
export * from './test-route.ts';
