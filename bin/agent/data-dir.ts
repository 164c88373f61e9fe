import { existsSync } from 'node:fs';

import type { Environment } from '../../core/boot/settings/settings.ts';

/** Data folder of an installed agent. */
export const installedDir = '/var/lib/svc-edge';

/**
 * Returns the environment with a data folder: the named one, that of the installed agent, or one in
 * the working folder.
 */
export function edgeEnvironment(
  environment: Environment,
): Environment & { readonly SVC_DATA_DIR: string } {
  const named = environment['SVC_DATA_DIR'];
  const installed = process.getuid?.() === 0 || existsSync(installedDir);
  return { ...environment, SVC_DATA_DIR: named ?? (installed ? installedDir : './svc-edge') };
}
