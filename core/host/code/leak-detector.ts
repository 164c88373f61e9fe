import { errors } from './errors.ts';

/** Methods that end the process, or another one. */
const deadly = new Set(['exit', 'reallyExit', 'abort', 'kill', '_kill']);

const setters = ['setTimeout', 'setInterval', 'setImmediate'] as const;
const clearers = ['clearTimeout', 'clearInterval', 'clearImmediate'] as const;
/** Names that shadow Node's own inside a plugin's modules. */
const shadowed = [...setters, ...clearers, 'process'];

type Listener = Parameters<typeof process.off>[1];
type Listen = (event: string | symbol, listener: Listener) => unknown;
type SetTimer = (run: () => void, ms?: number) => unknown;

/** Put before a module's text, on its first line, so that the numbers of the others stay. */
export const shadowing = `const [${shadowed.join(',')}]=require('svc:strays').stand;`;

/**
 * Notes what a plugin sets past its scope, which is ended with the plugin all the same and told by name. A plugin that is
 * trusted with `timers` or `process` gets those of Node as they are.
 */
export class Strays {
  readonly #timers = new Map<unknown, string>();
  readonly #listeners: { readonly event: string | symbol; readonly listener: Listener }[] = [];
  /** Values for `shadowed`, in its order. */
  readonly stand: readonly unknown[];
  /** The plugin's `node:process`. */
  readonly process: object;

  constructor(trusted: readonly string[]) {
    this.process = trusted.includes('process') ? process : this.#watchedProcess();
    const timers = trusted.includes('timers')
      ? [...setters, ...clearers].map((name) => globalThis[name])
      : [
          ...setters.map((name) => this.#setting(name, globalThis[name])),
          ...clearers.map((name) => this.#clearing(globalThis[name])),
        ];
    this.stand = [...timers, this.process];
  }

  /** Ends what is left, and names it. */
  end(): readonly string[] {
    const listening = this.#listeners.filter(({ event, listener }) =>
      process.listeners(event as 'exit').includes(listener),
    );
    const left = [
      ...this.#timers.values(),
      ...listening.map(({ event }) => `process.on('${String(event)}')`),
    ];
    for (const [handle, name] of this.#timers) {
      (name === 'setImmediate' ? clearImmediate : clearTimeout)(handle as never);
    }
    this.#listeners.forEach(({ event, listener }) => process.off(event, listener));
    this.#timers.clear();
    return left;
  }

  #setting(name: string, set: SetTimer) {
    return (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): unknown => {
      const handle = set(() => {
        if (name !== 'setInterval') {
          this.#timers.delete(handle);
        }
        run(...args);
      }, ms);
      this.#timers.set(handle, name);
      return handle;
    };
  }

  #clearing(clear: (handle: never) => void) {
    return (handle: unknown): void => {
      this.#timers.delete(handle);
      clear(handle as never);
    };
  }

  #joining(listen: Listen): Listen {
    return (event, listener) => {
      this.#listeners.push({ event, listener });
      return listen.call(process, event, listener);
    };
  }

  #watchedProcess(): object {
    return new Proxy(process, {
      get: (target, property) => {
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
          ? this.#joining(value as Listen)
          : (value.bind(target) as unknown);
      },
    });
  }
}
