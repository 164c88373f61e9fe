export { ConcurrencyGate, type GateRules } from './concurrency-gate.ts';
export { networkOf } from './network.ts';
export { type CounterRules, SlidingCounter } from './sliding-counter.ts';
export { TokenBucket } from './token-bucket.ts';
