export { errors as eventErrors } from './errors.ts';
export { Bus, type BusOptions, type Subscriber } from './bus.ts';
