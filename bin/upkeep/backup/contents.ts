import { lstatSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';

/** The choices of an operator that stand in a file. */
const settingsFile = 'svc.yaml';
/** Of the telemetry stores, which may be left out because they are large. */
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

/** Names come from a file of unknown origin; no other ones are looked at. */
const known = /^(?:svc\.db|svc\.yaml|secret\.key|secret\.key\.sealed|(?:plugins|packs)\/.+)$/;

/** What a person calls that file of a backup. */
export function partOf(name: string): string {
  const [top, plugin] = name.split('/');
  return named[top!] ?? named[unitOf(name)] ?? (plugin === undefined ? 'key' : `plugin ${plugin}`);
}

export const isTelemetry = (part: string): boolean => Object.values(telemetry).includes(part);

/** Whether a file may be called so in a backup: below a folder that is taken, and nowhere else. */
export function isKnownName(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    known.test(name) &&
    !/[\0\\]/.test(name) &&
    name.split('/').every((step) => step !== '' && step !== '.' && step !== '..')
  );
}

/** What is copied, and put back, in one piece: the folder of a plugin, all packs, the settings file. */
export const unitOf = (name: string): string =>
  name.startsWith('plugins/') ? name.split('/').slice(0, 2).join('/') : name.split('/')[0]!;

/** Whether a restore may move what is called so. */
export const isUnit = (name: unknown): boolean =>
  typeof name === 'string' && /^(?:svc\.yaml|packs|plugins\/\w[^/\\\0]*)$/.test(name);

/** The units that are there; all else in the data folder is made anew by a start, or belongs to one machine. */
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

/** The plain files below a unit, by their names in the backup; what a database keeps beside itself is not copied as a file. */
export function filesOf(dataDir: string, unit: string): readonly string[] {
  const folder = join(dataDir, unit);
  if (unit === settingsFile) {
    return [unit];
  }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.db-(?:wal|shm|journal)$|\.tmp$/.test(entry.name))
    .map(
      (entry) =>
        `${unit}/${join(entry.parentPath, entry.name)
          .slice(folder.length + 1)
          .split(sep)
          .join('/')}`,
    )
    .toSorted();
}
