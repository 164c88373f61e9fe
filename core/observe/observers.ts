import { AsyncLocalStorage } from 'node:async_hooks';

import type { SelfLine, SelfObservation, SelfRequest } from '../sdk/index.ts';

/** Of the start, which is told before anybody can listen: kept for who comes first. */
const mostEarly = 256;

/** Who watches the house itself. While nobody does, telling costs one look at a number. */
export interface Observers extends Pick<SelfObservation, 'onLine' | 'onRequest' | 'unobserved'> {
  readonly wantsLines: boolean;
  readonly wantsRequests: boolean;
  line(line: SelfLine): void;
  request(request: SelfRequest): void;
  /** How many watch, for the census. */
  readonly size: number;
}

/** `broken` hears of a listener that threw; it is not told anything again. */
export function createObservers(broken: (error: unknown) => void): Observers {
  const apart = new AsyncLocalStorage<true>();
  const lines = new Set<(line: SelfLine) => void>();
  const requests = new Set<(request: SelfRequest) => void>();
  let early: SelfLine[] | undefined = [];
  const keepsEarly = (): boolean => early !== undefined && early.length < mostEarly;

  function tell<T>(listeners: Set<(value: T) => void>, value: T): void {
    if (apart.getStore() === true) {
      return;
    }
    for (const listener of listeners) {
      try {
        listener(value);
      } catch (error) {
        listeners.delete(listener);
        broken(error);
      }
    }
  }

  function join<T>(listeners: Set<(value: T) => void>, listener: (value: T) => void): () => void {
    // The same function twice is two listeners.
    const own = (value: T): void => listener(value);
    listeners.add(own);
    return () => void listeners.delete(own);
  }

  return {
    get wantsLines() {
      return lines.size > 0 || keepsEarly();
    },
    get wantsRequests() {
      return requests.size > 0;
    },
    get size() {
      return lines.size + requests.size;
    },
    line(line) {
      if (keepsEarly() && apart.getStore() !== true) {
        early?.push(line);
      }
      tell(lines, line);
    },
    request: (request) => tell(requests, request),
    onLine(listener) {
      const leave = join(lines, listener);
      const before = early ?? [];
      early = undefined;
      before.forEach((line) => tell(lines, line));
      return leave;
    },
    onRequest: (listener) => join(requests, listener),
    unobserved: (work) => apart.run(true, work),
  };
}
