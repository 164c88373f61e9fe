import { isBuiltin } from 'node:module';
import { join } from 'node:path';

import * as cli from 'svc/cli';

import { evaluateText } from '../../core/host/code/evaluate.ts';
import type { PluginFolder } from '../../core/host/index.ts';
import * as sdk from '../../core/sdk/index.ts';
import { builtFile } from '../manifest/area-commands.ts';

const lent: Readonly<Record<string, object>> = { 'svc/cli': cli, 'svc/sdk': sdk };

/** Loads a command from the folder of its area: as it was built, or bundled from source and kept until that changes. */
export async function loadAreaCommand(folder: PluginFolder, file: string): Promise<cli.Command> {
  const built = folder.read(builtFile(file));
  const { code, filename } = built
    ? { code: built.toString('utf8'), filename: `${folder.path}/${builtFile(file)}` }
    : await bundled(folder, file);
  const { command } = evaluateText({ code, filename }, link) as { command?: cli.Command };
  if (typeof command?.run !== 'function') {
    throw new sdk.SvcError('invalid_argument', `${filename} does not export "command"`, {
      reason: 'cli.no_command',
    });
  }
  return command;
}

async function bundled(folder: PluginFolder, file: string) {
  const [{ bundleCommand }, { commandSources }] = await Promise.all([
    import('../bundler/bundle-command.ts'),
    import('../bundler/sources.ts'),
  ]);
  return await bundleCommand(join(folder.path, file), folder.id, commandSources());
}

function link(specifier: string): unknown {
  const module = lent[specifier];
  if (module === undefined && !isBuiltin(specifier)) {
    throw new sdk.SvcError(
      'invalid_argument',
      `a command imports "${specifier}", which is neither part of Node nor available to commands`,
      { reason: 'cli.import_refused' },
    );
  }
  return module ?? process.getBuiltinModule(specifier);
}
