import { type Disposer, type Handle } from '../sdk/index.ts';
import { errors } from './errors.ts';
import type { Registry } from './registry.ts';

/**
 * A stand-in for a service that looks its provider up at each use, in the snapshot the caller is pinned to.
 * Consumers keep it for ever: it holds no generation alive and follows every reload.
 */
export function serviceHandle<T extends object>(registry: Registry, id: string): T {
  const methods = new Map<PropertyKey, (...args: unknown[]) => unknown>();
  return new Proxy(Object.create(null) as T, {
    get(_target, property) {
      // `await handle` must not be mistaken for a thenable service.
      if (property === 'then') {
        return undefined;
      }
      const cached = methods.get(property);
      if (cached) {
        return cached;
      }
      const value = Reflect.get(provider(registry, id), property) as unknown;
      if (typeof value !== 'function') {
        return value;
      }
      const method = (...args: unknown[]): unknown => {
        const target = provider(registry, id) as Record<
          PropertyKey,
          (...input: unknown[]) => unknown
        >;
        return target[property]!(...args);
      };
      methods.set(property, method);
      return method;
    },
    has: (_target, property) => Reflect.has(provider(registry, id), property),
    set: () => {
      throw errors.handle_set({ service: id });
    },
  });
}

export function optionalHandle<T extends object>(
  registry: Registry,
  id: string,
  own: (label: string, undo: Disposer) => Disposer,
): Handle<T> {
  const bound = serviceHandle<T>(registry, id);
  return {
    get available() {
      return registry.seen.services.has(id);
    },
    get() {
      provider(registry, id);
      return bound;
    },
    onChange(listener) {
      const undo = registry.onPublish((next, previous) => {
        const [is, was] = [next.services.has(id), previous.services.has(id)];
        if (is !== was) {
          listener(is ? 'up' : 'down');
        }
      });
      return own(`watch service ${id}`, undo);
    },
  };
}

function provider(registry: Registry, id: string): object {
  const entry = registry.seen.services.get(id);
  if (!entry) {
    throw errors.no_provider(
      { service: id },
      {
        retryAfterSeconds: 5,
      },
    );
  }
  return entry.value.instance;
}
