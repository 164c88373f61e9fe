import { AsyncLocalStorage } from 'node:async_hooks';

import type { Generation } from './generation.ts';
import type { Snapshot } from './snapshot.ts';

/** The view that one unit of work keeps, and on whose account its errors go. */
export interface Pin {
  /** Undefined once the work became long-lived: it then sees each new snapshot as it comes. */
  readonly snapshot: Snapshot | undefined;
  readonly owner: Generation | undefined;
}

const pins = new AsyncLocalStorage<Pin>();

export const currentPin = (): Pin | undefined => pins.getStore();

/** Runs `work` inside `pin`; callers count the matching lease themselves. */
export const withPin = <T>(pin: Pin, work: () => T): T => pins.run(pin, work);
