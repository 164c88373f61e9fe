import { lstatSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Folders of the data folder that a backup takes whole; all else there is made anew by a start, or belongs to one machine. */
const taken = ['plugins', 'packs'] as const;
/** Of the telemetry stores, which may be left out because they are large. */
const telemetry: Readonly<Record<string, string>> = { 'plugins/metricsdb': 'metrics', 'plugins/logs': 'logs', 'plugins/traces': 'traces' };
const named: Readonly<Record<string, string>> = { ...telemetry, 'plugins/webshell': 'recordings', 'plugins/skill': 'evidence', packs: 'packs' };

/** Names come from a file of unknown origin; no other ones are looked at. */
const known = /^(?:svc\.db|secret\.key|secret\.key\.sealed|(?:plugins|packs)\/.+)$/;

/** What a person calls that file of a backup. */
export function partOf(name: string): string {
  if (!name.includes('/')) {
    return name === 'svc.db' ? 'database' : 'key';
  }
  const [top, plugin] = name.split('/');
  return named[top!] ?? named[`${top!}/${plugin!}`] ?? `plugin ${plugin!}`;
}

export const isTelemetry = (part: string): boolean => Object.values(telemetry).includes(part);

/** Whether a file may be called so in a backup: below a folder that is taken, and nowhere else. */
export function isKnownName(name: unknown): name is string {
  return typeof name === 'string' && known.test(name) && !/[\0\\]/.test(name) && name.split('/').every((step) => step !== '' && step !== '.' && step !== '..');
}

/** The units that are copied each in one consistent state: the folder of a plugin, and all packs. */
export function unitsOf(dataDir: string): readonly string[] {
  return taken
    .flatMap((top) => (top === 'packs' ? [top] : namesIn(join(dataDir, top)).map((plugin) => `${top}/${plugin}`)))
    .filter((unit) => isFolder(join(dataDir, unit)));
}

/** The plain files below a unit, by their names in the backup; what a database keeps beside itself is not copied as a file. */
export function filesOf(dataDir: string, unit: string): readonly string[] {
  const folder = join(dataDir, unit);
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

function namesIn(folder: string): readonly string[] {
  return isFolder(folder) ? readdirSync(folder).toSorted() : [];
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
