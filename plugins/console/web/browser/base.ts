/**
 * Under which path svc is reached from here: `/`, or the one that a proxy in front of it has given it, such as `/svc/`. Told by the address
 * that this code came from, so that neither svc nor the proxy has to say it.
 */
export const base: string =
  /^(\/.*?)ui\/assets\/[^/]*$/.exec(new URL(import.meta.url).pathname)?.[1] ?? '/';

/** A path of svc, as `/ui/incidents/7`, as it is reached from here. */
export const below = (path: string): string => base + path.replace(/^\//, '');
