import { useEffect, useState } from 'preact/hooks';

import { base } from './base.ts';

/** Value that parts of the page show, and which re-renders them when it changes. */
export class Store<T> {
  #value: T;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (value !== this.#value) {
      this.#value = value;
      [...this.#listeners].forEach((listener) => listener(value));
    }
  }

  onChange(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

export function useStore<T>(store: Store<T>): T {
  const [, draw] = useState(store.value);
  useEffect(() => {
    // It may have changed between the drawing and this moment.
    draw(() => store.value);
    return store.onChange((value) => draw(() => value));
  }, [store]);
  return store.value;
}

/** Prefix of storage keys: several svc may be below one host, each with its own. */
const prefix = base === '/' ? 'svc.' : `svc.${base}.`;

/**
 * Preferences of one user on one device, such as the theme; never anything secret. Lost in a
 * browser that stores nothing.
 */
export const kept = {
  read(name: string): string | undefined {
    try {
      return localStorage.getItem(prefix + name) ?? undefined;
    } catch {
      // The page may have no access to storage; then nothing is stored.
      return undefined;
    }
  },
  write(name: string, value: string | undefined): void {
    try {
      if (value === undefined) {
        localStorage.removeItem(prefix + name);
      } else {
        localStorage.setItem(prefix + name, value);
      }
    } catch {
      // As above: it lasts until the page is left.
    }
  },
};
