export { bootstrapText } from './bootstrap.ts';
export { type Child, type ChildState, startChild, type StartOptions } from './child.ts';
export { standInFront } from './priority.ts';
export type { BinaryRole, ChildOrigin } from './spawn.ts';
export * as threadSide from './thread-side.ts';
export type { Tenant } from './thread-place.ts';
export { createThreads, type ThreadClaim, type Threads } from './threads.ts';
export { startWorker, type WorkerStart } from './worker.ts';
