import type { Entry, Generation, PointContribution } from '../../registry/index.ts';

type Method = (...args: unknown[]) => unknown;

/** Plugin whose contribution threw an error; whoever lets the error pass is not to blame. */
const throwers = new WeakMap<object, Generation>();

export const thrownBy = (error: unknown): Generation | undefined =>
  typeof error === 'object' && error !== null ? throwers.get(error) : undefined;

/**
 * Wraps a contribution for the plugin that reads it. Methods run as they did, and what they throw
 * remembers whose it is. Everything else is read from the contribution itself.
 */
export function onAccount({ value: { value }, owner }: Entry<PointContribution>): unknown {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const wrapped = new Map<PropertyKey, { readonly of: unknown; readonly method: Method }>();
  const get = (property: PropertyKey): unknown => {
    const part = blaming(owner, () => Reflect.get(value, property) as unknown);
    if (typeof part !== 'function') {
      return part;
    }
    let known = wrapped.get(property);
    if (known?.of !== part) {
      const method: Method = (...args) =>
        blaming(owner, () =>
          Reflect.apply<unknown, unknown[], unknown>(part as Method, value, args),
        );
      wrapped.set(property, (known = { of: part, method }));
    }
    return known.method;
  };
  // With the contribution as target, a frozen one could not be wrapped.
  return new Proxy(Object.create(null) as object, {
    get: (_target, property) => get(property),
    set: () => false,
    has: (_target, property) => Reflect.has(value, property),
    ownKeys: () => Reflect.ownKeys(value),
    getPrototypeOf: () => Reflect.getPrototypeOf(value),
    getOwnPropertyDescriptor: (_target, property) => {
      const own = Reflect.getOwnPropertyDescriptor(value, property);
      return (
        own && {
          configurable: true,
          enumerable: own.enumerable === true,
          writable: false,
          value: get(property),
        }
      );
    },
  });
}

/** Runs code of a contribution; what it throws, now or later, is its contributor's. */
function blaming(owner: Generation, work: () => unknown): unknown {
  const fail = (error: unknown): never => {
    const thrown = error instanceof Error ? error : new Error(String(error), { cause: error });
    if (!throwers.has(thrown)) {
      throwers.set(thrown, owner);
    }
    throw thrown;
  };
  try {
    const result = work();
    return result instanceof Promise ? result.catch(fail) : result;
  } catch (error) {
    return fail(error);
  }
}
