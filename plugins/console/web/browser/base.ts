/**
 * Path under which svc is reached from here: `/`, or one that a proxy in front of it assigns, such
 * as `/svc/`. Derived from the address of this script, so that neither svc nor the proxy has to
 * state it.
 */
export const base: string =
  /^(\/.*?)ui\/assets\/[^/]*$/.exec(new URL(import.meta.url).pathname)?.[1] ?? '/';

/** Returns a path of svc, such as `/ui/incidents/7`, as reached from here. */
export const below = (path: string): string => base + path.replace(/^\//, '');
