/**
 * Modules that hosts share with plugins, each by its own table; everything else a plugin uses is
 * bundled into it.
 */
export const lentNames = [
  'svc/sdk',
  'svc/ssh',
  'svc/thread',
  'ajv',
  'jsonwebtoken',
  'kysely',
  're2js',
  'semver',
  'typebox',
  'ws',
  'yaml',
] as const;

/** Modules the host lends to plugins, by the name they are imported by. */
export type SharedModules = ReadonlyMap<string, object>;

/** Placeholder of a module that is only loaded when a plugin imports it. */
const later = Symbol('later');
export const lentLater = (load: () => Promise<object>): object => ({ [later]: load });
const isLater = (
  module: object | undefined,
): module is { readonly [later]: () => Promise<object> } => module !== undefined && later in module;

/**
 * Returns the modules shared with this text, which loads at once: of those that are loaded lazily,
 * only the ones it requires.
 */
export async function lentTo(code: string, shared: SharedModules): Promise<SharedModules> {
  const lent = new Map([...shared].filter(([, module]) => !isLater(module)));
  for (const [, name] of code.matchAll(/\brequire\(["']([^"'\n]+)["']\)/g)) {
    const module = shared.get(name!);
    if (isLater(module) && !lent.has(name!)) {
      lent.set(name!, await module[later]());
    }
  }
  return lent;
}
