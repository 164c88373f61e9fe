export { type Bus, type BusOptions, createBus, type Subscriber, type Subscriptions } from './bus.ts';
export { createOutboxes, type Outboxes, type OutboxOptions } from './outbox.ts';
export type { Account } from './topic.ts';
