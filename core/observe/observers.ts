import { AsyncLocalStorage } from 'node:async_hooks';

import type { SelfLine, SelfObservation, SelfRequest } from '../sdk/index.ts';

/** Lines of the start, before any listener can be there: kept for the first one. */
const maxEarly = 256;

/** Observers of the service itself. While there is no listener, an event costs one comparison. */
export class Observers implements Pick<SelfObservation, 'onLine' | 'onRequest' | 'unobserved'> {
  readonly #onError: (error: unknown) => void;
  readonly #unobserved = new AsyncLocalStorage<true>();
  readonly #lines = new Set<(line: SelfLine) => void>();
  readonly #requests = new Set<(request: SelfRequest) => void>();
  #early: SelfLine[] | undefined = [];

  /** `onError` gets what a listener threw; that listener gets nothing more. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get wantsLines(): boolean {
    return this.#lines.size > 0 || this.#keepsEarly;
  }

  get wantsRequests(): boolean {
    return this.#requests.size > 0;
  }

  /** Number of observers, for the census. */
  get size(): number {
    return this.#lines.size + this.#requests.size;
  }

  line(line: SelfLine): void {
    if (this.#keepsEarly && this.#unobserved.getStore() !== true) {
      this.#early?.push(line);
    }
    this.#tell(this.#lines, line);
  }

  request(request: SelfRequest): void {
    this.#tell(this.#requests, request);
  }

  onLine(listener: (line: SelfLine) => void): () => void {
    const unsubscribe = subscribe(this.#lines, listener);
    const before = this.#early ?? [];
    this.#early = undefined;
    before.forEach((line) => this.#tell(this.#lines, line));
    return unsubscribe;
  }

  onRequest(listener: (request: SelfRequest) => void): () => void {
    return subscribe(this.#requests, listener);
  }

  unobserved<R>(work: () => R): R {
    return this.#unobserved.run(true, work);
  }

  get #keepsEarly(): boolean {
    return this.#early !== undefined && this.#early.length < maxEarly;
  }

  #tell<T>(listeners: Set<(value: T) => void>, value: T): void {
    if (this.#unobserved.getStore() === true) {
      return;
    }
    for (const listener of listeners) {
      try {
        listener(value);
      } catch (error) {
        listeners.delete(listener);
        this.#onError(error);
      }
    }
  }
}

function subscribe<T>(
  listeners: Set<(value: T) => void>,
  listener: (value: T) => void,
): () => void {
  // The same function twice is two listeners.
  const own = (value: T): void => listener(value);
  listeners.add(own);
  return () => void listeners.delete(own);
}
