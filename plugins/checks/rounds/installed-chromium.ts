import { join } from 'node:path';

import { Chromium, chromiumNames, type ChromiumParts } from 'svc/check';
import type { ForeignPrograms } from 'svc/contracts/programs';
import type { Handle, PluginContext } from 'svc/sdk';

import { errors } from '../check/errors.ts';

/** Returns the Chromium of the manager: the one that is set, or the first that is installed. */
export function installedChromium(
  ctx: PluginContext,
  programs: Handle<ForeignPrograms>,
  pause: ChromiumParts['pause'],
): Chromium {
  return new Chromium({
    find: () => pathOf(programs, ctx.settings.get<string>('checks.browser')),
    run: (file, args, options) => programs.get().run(ctx, file, args, options),
    folder: join(ctx.dataDir, 'browser'),
    isRoot: process.getuid?.() === 0,
    pause,
    nonce: () => ctx.ids.token(24),
  });
}

function pathOf(programs: Handle<ForeignPrograms>, set: string): string {
  const names = set === '' ? chromiumNames : [set];
  const [found] = programs.available
    ? names.flatMap((name) => programs.get().find(name) ?? [])
    : [];
  if (found === undefined) {
    throw set === '' ? errors.no_browser() : errors.no_such_browser({ file: set });
  }
  return found;
}
