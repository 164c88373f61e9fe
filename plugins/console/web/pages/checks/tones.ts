import type { Tone } from '../../kit/status.tsx';
import type { Check } from './check.ts';

/** Marks of the states of a check. */
export const tones: Readonly<Record<Check['state'], Tone>> = {
  up: 'ok',
  down: 'critical',
  stale: 'warning',
  waiting: 'info',
  paused: 'muted',
};
