export { Bus, type BusOptions, type Subscriber, type Subscriptions } from './bus.ts';
export { Outboxes, type OutboxOptions } from './outbox.ts';
export type { Account } from './topic.ts';
