export { BelievedClock, type BelievedClockRules } from './believed-clock.ts';
export { ConcurrencyGate, type GateRules } from './concurrency-gate.ts';
export { DueWork, type DueWorkParts } from './due-work.ts';
export { atOnce, inTurns, nextTurn, stepwise } from './in-turns.ts';
export { type CounterRules, networkOf, SlidingCounter } from './sliding-counter.ts';
export { TokenBucket } from './token-bucket.ts';
