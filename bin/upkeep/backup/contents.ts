import { lstatSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';

/** File with an operator's settings. */
const settingsFile = 'svc.yaml';
/** Folders of the telemetry stores, which may be left out because they are large. */
const telemetry: Readonly<Record<string, string>> = {
  'plugins/metricsdb': 'metrics',
  'plugins/logs': 'logs',
  'plugins/traces': 'traces',
};
const named: Readonly<Record<string, string>> = {
  ...telemetry,
  'svc.db': 'database',
  [settingsFile]: 'settings file',
  'plugins/webshell': 'recordings',
  'plugins/skill': 'evidence',
  packs: 'packs',
};

/** Files beside a database that say something of its last run only, and what a damaged one left. */
const isOfOneRun = /\.db-(?:wal|shm|journal)$|\.db\.(?:seal$|new|damaged-)|\.tmp$/;

/** Names come from a file of unknown origin; no other ones are looked at. */
const known = /^(?:svc\.db|svc\.yaml|secret\.key|secret\.key\.sealed|(?:plugins|packs)\/.+)$/;

/** Returns the readable name of a backup's file. */
export function partOf(name: string): string {
  const [top, plugin] = name.split('/');
  return named[top!] ?? named[unitOf(name)] ?? (plugin === undefined ? 'key' : `plugin ${plugin}`);
}

export const isTelemetry = (part: string): boolean => Object.values(telemetry).includes(part);

/**
 * Returns whether a backup may contain a file of this name: only below a folder that is backed up.
 */
export function isKnownName(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    known.test(name) &&
    !/[\0\\]/.test(name) &&
    name.split('/').every((step) => step !== '' && step !== '.' && step !== '..')
  );
}

/**
 * Returns the unit that is copied and restored as a whole: the folder of a plugin, all packs, the
 * settings file.
 */
export const unitOf = (name: string): string =>
  name.startsWith('plugins/') ? name.split('/').slice(0, 2).join('/') : name.split('/')[0]!;

/** Returns whether a restore may move something of this name. */
export const isUnit = (name: unknown): boolean =>
  typeof name === 'string' && /^(?:svc\.yaml|packs|plugins\/\w[^/\\\0]*)$/.test(name);

/**
 * Returns the existing units; everything else in the data folder is recreated by a start, or
 * belongs to one machine.
 */
export function unitsOf(dataDir: string): readonly string[] {
  const is = (unit: string, kind: 'isDirectory' | 'isFile'): boolean =>
    lstatSync(join(dataDir, unit), { throwIfNoEntry: false })?.[kind]() === true;
  const plugins = is('plugins', 'isDirectory')
    ? readdirSync(join(dataDir, 'plugins')).toSorted()
    : [];
  const folders = ['packs', ...plugins.map((plugin) => `plugins/${plugin}`)].filter((unit) =>
    is(unit, 'isDirectory'),
  );
  return is(settingsFile, 'isFile') ? [settingsFile, ...folders] : folders;
}

/**
 * Returns the plain files below a unit, by their names in the backup; auxiliary files of a database
 * are not copied as files.
 */
export function filesOf(dataDir: string, unit: string): readonly string[] {
  const folder = join(dataDir, unit);
  if (unit === settingsFile) {
    return [unit];
  }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !isOfOneRun.test(entry.name))
    .map(
      (entry) =>
        `${unit}/${join(entry.parentPath, entry.name)
          .slice(folder.length + 1)
          .split(sep)
          .join('/')}`,
    )
    .toSorted();
}
