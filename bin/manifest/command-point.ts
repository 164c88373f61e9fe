import type { PluginFolder } from '../../core/host/index.ts';

/** The part of `contributes` in `plugin.json` that names commands with code: the words after `svc`, then their file. */
export const commandPoint = 'cli.commands';

/**
 * Returns whether a plugin may contribute commands: their code runs with all rights of the caller,
 * so it ships with svc and never with a pack.
 */
export const mayBringCode = ({ origin }: Pick<PluginFolder, 'origin'>): boolean =>
  origin === 'shipped';
