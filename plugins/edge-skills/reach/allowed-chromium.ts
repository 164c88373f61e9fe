import { join } from 'node:path';

import { Chromium } from 'svc/check';
import type { LocalPolicy } from 'svc/contracts/edge-uplink';
import type { After } from 'svc/probe';
import type { PluginContext } from 'svc/sdk';

import { errors } from './errors.ts';
import type { MachinePrograms } from './machine-programs.ts';

/** Returns the browser that the owner of this machine lets checks use. */
export function allowedChromium(
  ctx: Pick<PluginContext, 'dataDir' | 'ids'>,
  policy: LocalPolicy,
  programs: Pick<MachinePrograms, 'find' | 'run'>,
  after: After,
): Chromium {
  return new Chromium({
    find: () => pathOf(policy, programs),
    run: (file, args, options) => programs.run(file, args, options),
    folder: join(ctx.dataDir, 'browser'),
    isRoot: process.getuid?.() === 0,
    pause: (ms, signal) => paused(after, ms, signal),
    nonce: () => ctx.ids.token(24),
  });
}

function pathOf(policy: LocalPolicy, programs: Pick<MachinePrograms, 'find'>): string {
  const { browser } = policy.current().skills;
  if (browser === undefined) {
    throw errors.no_browser_allowed();
  }
  const file = programs.find(browser);
  if (file === undefined) {
    throw errors.no_such_browser({ file: browser });
  }
  return file;
}

/** A pause that the end of the plugin, or its signal, cuts short. */
const paused = (after: After, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = after(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    function stop(): void {
      cancel();
      reject(signal.reason as Error);
    }
    signal.addEventListener('abort', stop, { once: true });
    void (signal.aborted && stop());
  });
