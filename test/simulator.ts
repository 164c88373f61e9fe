import { systemClock, systemIds } from '../core/boot/time.ts';

/** The program that simulated hosts run in, where that is a test. */
export const simulator = {
  version: '0.1.0',
  clock: systemClock,
  ids: systemIds(systemClock),
};
