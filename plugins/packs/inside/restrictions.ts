import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

/**
 * The first thing a child does. Where the flags got lost (a single binary ignores them on its command line) the code of a
 * stranger would run with every right of the host, so without the restrictions nothing runs at all.
 */
export function requireRestrictions(): void {
  if ((process.permission as { has(scope: string): boolean } | undefined)?.has('fs.write') !== false) {
    process.stderr.write('refused to run: the permission model is off in this process, so nothing holds the code back\n');
    process.exit(78);
  }
}

/** The permission model does not know signals and priorities, which reach every process of the same user: the host too. */
export function disarm(): void {
  for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd']) {
    Reflect.deleteProperty(process, name);
  }
  Reflect.deleteProperty(os, 'setPriority');
  syncBuiltinESMExports();
}
