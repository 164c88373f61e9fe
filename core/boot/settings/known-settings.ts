import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { PluginManifest } from '../../sdk/index.ts';
import { replaceFile } from './replace-file.ts';

/** Names of settings and of their environment, each with the plugin that declared it. */
export type KnownSettings = Readonly<Record<string, string>>;

const fileOf = (dataDir: string): string => join(dataDir, 'known-settings.json');

/**
 * Reads the declarations of plugins that this data folder has met: a setting of a missing one is no
 * typo.
 */
export function readKnownSettings(dataDir: string): KnownSettings {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as KnownSettings;
  } catch {
    // None yet, or unreadable: then every unknown name counts as a typo, and the file is rewritten.
    return {};
  }
}

export function keepKnownSettings(dataDir: string, known: KnownSettings): void {
  if (JSON.stringify(known) !== JSON.stringify(readKnownSettings(dataDir))) {
    replaceFile(fileOf(dataDir), JSON.stringify(known));
  }
}

/** Returns the names that one manifest declares. */
export const namesOf = ({ id, settings }: PluginManifest): KnownSettings =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([key, { env }]) =>
      [key, ...(env === undefined ? [] : [env, `${env}_FILE`])].map((name) => [name, id]),
    ),
  );
