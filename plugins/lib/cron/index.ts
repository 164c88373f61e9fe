export { type Cron, parseCron } from './cron.ts';
export { errors as cronErrors } from './errors.ts';
export { Slots } from './slots.ts';
