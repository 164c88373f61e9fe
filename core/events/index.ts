export { Bus, type BusOptions, type Subscriber, type Subscriptions } from './bus.ts';
