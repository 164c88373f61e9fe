// Installs the hooks of contributors. Plain JavaScript, node:* only: it runs on a bare clone.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const hooks = 'bin/dev/hooks';
/** Exit code of `git config --get` for a name that is not set. */
const unset = 1;

/**
 * Points git at the hooks of the project: in a git clone only, and never over a `core.hooksPath` that is set anywhere. Where git is
 * missing, or refuses, nothing is installed: neither a start nor a test run needs it.
 */
export function installHooks(root) {
  if (!existsSync(join(root, '.git'))) {
    return;
  }
  const git = (...args) => spawnSync('git', ['-C', root, 'config', ...args]).status;
  if (git('--get', 'core.hooksPath') === unset) {
    git('core.hooksPath', hooks);
  }
}
