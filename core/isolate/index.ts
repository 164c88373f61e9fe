export type { RestartPolicy } from './backoff.ts';
export { bootstrapText } from './bootstrap.ts';
export { type Child, type ChildState, startChild, type StartOptions } from './child.ts';
export type { BinaryRole, ChildOrigin } from './spawn.ts';
export { startWorker, type WorkerStart } from './worker.ts';
