import commandsSchema from '../../config/commands.schema.json' with { type: 'json' };
import { ajvSchemas } from '../../core/boot/settings/schemas.ts';
import type { PluginFolder } from '../../core/host/index.ts';
import { sentence } from '../../core/host/folder/read-manifest.ts';
import { type PluginManifest, SvcError } from '../../core/sdk/index.ts';
import { commandPoint, mayBringCode } from './command-point.ts';

/** A command of an area whose code stands in the folder of that area. */
export interface AreaCommand {
  readonly summary: string;
  /** Below the folder of the area, such as `cli/query.ts`. */
  readonly file: string;
}

/** Returns the commands of a manifest by their words; throws where one could not work. */
export function areaCommandsOf(
  { id, kind, contributes }: PluginManifest,
  folder: PluginFolder,
): Readonly<Record<string, AreaCommand>> {
  const commands = (contributes[commandPoint] ?? {}) as Readonly<Record<string, AreaCommand>>;
  const where = `plugin.json of ${id}: contributes["${commandPoint}"]`;
  const [first] = Object.keys(commands);
  if (first !== undefined && (kind === 'pack' || !mayBringCode(folder))) {
    throw new SvcError(
      'invalid_argument',
      `${where}: a pack cannot bring code for the command line, which would run with the caller's rights; describe "${first}" in "cli.verbs"`,
      { reason: 'cli.code_of_pack' },
    );
  }
  const misfits = ajvSchemas.compile(commandsSchema)(commands);
  if (misfits.length > 0) {
    throw new SvcError(
      'invalid_argument',
      `${where}: ${misfits.slice(0, 3).map(sentence).join('; ')}`,
      { reason: 'cli.commands_malformed' },
    );
  }
  for (const [words, { file }] of Object.entries(commands)) {
    if (folder.read(file) === undefined && folder.read(builtFile(file)) === undefined) {
      throw new SvcError(
        'invalid_argument',
        `${where}: the command "${words}" names ${file}, which is not in the folder`,
        { reason: 'cli.command_missing' },
      );
    }
  }
  return commands;
}

/** Name of the text that a built plugin has in the place of a source. */
export const builtFile = (file: string): string => file.replace(/\.ts$/, '.cjs');
