import type { Tone } from '../../kit/status.tsx';
import type { Check } from './check.ts';

/** How the state of a check is marked. */
export const tones: Readonly<Record<Check['state'], Tone>> = {
  up: 'ok',
  down: 'critical',
  stale: 'warning',
  waiting: 'info',
  paused: 'muted',
};
