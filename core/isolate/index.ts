export { errors as isolateErrors } from './errors.ts';
export { lowered } from './priority.ts';
export * as threadSide from './thread-side.ts';
export type { Tenant } from './thread-place.ts';
export { Threads } from './threads.ts';
export { startWorker } from './worker.ts';
