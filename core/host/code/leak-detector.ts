import { errors } from './errors.ts';

/** What ends the process, or another one. */
const deadly = new Set(['exit', 'reallyExit', 'abort', 'kill', '_kill']);

/** Names that shadow Node's own inside a plugin's modules. */
const shadowed = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'process',
] as const;

type Listener = Parameters<typeof process.off>[1];
type Listen = (event: string | symbol, listener: Listener) => unknown;

/** What a plugin set past its scope. It is ended with the plugin all the same, and told by name. */
export interface Strays {
  /** Values for `shadowed`, in its order. */
  readonly stand: readonly unknown[];
  /** What `node:process` is to the plugin. */
  readonly process: object;
  end(): readonly string[];
}

/** Put before a module's text, on its first line, so that the numbers of the others stay. */
export const shadowing = `const [${shadowed.join(',')}]=require('svc:strays').stand;`;

/** A plugin that is trusted with `timers` or `process` gets those of Node as they are. */
export function watchStrays(trusted: readonly string[]): Strays {
  const timers = new Map<unknown, string>();
  const listeners: { readonly event: string | symbol; readonly listener: Listener }[] = [];

  const setting =
    (name: string, set: (run: () => void, ms?: number) => unknown, repeats: boolean) =>
    (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): unknown => {
      const handle = set(() => {
        if (!repeats) {
          timers.delete(handle);
        }
        run(...args);
      }, ms);
      timers.set(handle, name);
      return handle;
    };
  const clearing =
    (clear: (handle: never) => void) =>
    (handle: unknown): void => {
      timers.delete(handle);
      clear(handle as never);
    };
  const joining =
    (listen: Listen): Listen =>
    (event, listener) => {
      listeners.push({ event, listener });
      return listen.call(process, event, listener);
    };
  const watchedProcess = new Proxy(process, {
    get(target, property) {
      const value = Reflect.get(target, property) as unknown;
      if (typeof value !== 'function') {
        return value;
      }
      if (deadly.has(String(property))) {
        return () => {
          throw errors.process_call({ name: String(property) });
        };
      }
      return ['on', 'once', 'addListener', 'prependListener'].includes(String(property))
        ? joining(value as Listen)
        : value.bind(target);
    },
  });

  const watchedTimers = [
    setting('setTimeout', setTimeout, false),
    setting('setInterval', setInterval, true),
    setting('setImmediate', setImmediate, false),
    clearing(clearTimeout),
    clearing(clearInterval),
    clearing(clearImmediate),
  ];
  const nodesTimers = [
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout,
    clearInterval,
    clearImmediate,
  ];
  const ownProcess = trusted.includes('process') ? process : watchedProcess;

  return {
    stand: [...(trusted.includes('timers') ? nodesTimers : watchedTimers), ownProcess],
    process: ownProcess,
    end() {
      const left = [
        ...timers.values(),
        ...listeners
          .filter(({ event, listener }) => process.listeners(event as 'exit').includes(listener))
          .map(({ event }) => `process.on('${String(event)}')`),
      ];
      for (const [handle, name] of timers) {
        (name === 'setImmediate' ? clearImmediate : clearTimeout)(handle as never);
      }
      listeners.forEach(({ event, listener }) => process.off(event, listener));
      timers.clear();
      return left;
    },
  };
}
