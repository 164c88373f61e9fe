/**
 * Lets the methods of a class be taken from their object, as handlers do that write `{ body, note }`. Each is bound when it
 * is read, so a call whose handler reads none pays nothing.
 */
export function bindMethods(prototype: object): void {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name !== 'constructor' && typeof value === 'function') {
      const method = value as (...input: unknown[]) => unknown;
      Object.defineProperty(prototype, name, {
        get(this: object) {
          return method.bind(this);
        },
      });
    }
  }
}
