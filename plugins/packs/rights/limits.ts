import { readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, sep } from 'node:path';

import type { PluginManifest } from 'svc/sdk';

import { errors } from './errors.ts';

/**
 * Folders that a pack never reads, whatever its manifest says and whoever accepts it; nor any
 * folder that contains one.
 */
const systemFolders: readonly string[] = [
  ...[
    '/bin',
    '/boot',
    '/dev',
    '/etc',
    '/home',
    '/lib',
    '/lib32',
    '/lib64',
    '/libx32',
    '/proc',
    '/root',
    '/run',
    '/sbin',
    '/sys',
    '/usr',
  ],
  ...['/var/backups', '/var/cache', '/var/lib', '/var/mail', '/var/run', '/var/spool'],
];

const maxEntries = 50_000;

/** Folders of svc itself: its data and its installation. */
export type ClosedFolders = readonly string[];

/** Property that does not belong to a pack. */
export interface Others {
  readonly folders: ClosedFolders;
  /**
   * Returns whether a variable of the environment is that of another owner's setting, or names its
   * file.
   */
  readonly reads: (variable: string, packId: string) => boolean;
}

/** Returns why nobody can accept a pack as it is; undefined if an administrator may. */
export function refusal(
  { id, mounts, actions, settings, skills, permissions }: PluginManifest,
  { folders, reads }: Others,
): string | undefined {
  const own = `/api/v1/${id}`;
  const mount = mounts.find((path) => path !== own && !path.startsWith(`${own}/`));
  if (mount !== undefined) {
    return `mounts ${JSON.stringify(mount)}: a pack answers below ${own} only`;
  }
  const action = Object.keys(actions).find((name) => !name.startsWith(`${id}:`));
  if (action !== undefined) {
    return `has the action ${action}: actions of a pack must begin with "${id}:"`;
  }
  const skill = skills.find(
    ({ key }) => key !== id && !key.startsWith(`${id}-`) && !key.startsWith(`${id}_`),
  );
  if (skill !== undefined) {
    return `has the skill ${skill.key}: keys of its skills must begin with "${id}-"`;
  }
  const prefix = `SVC_${id.toUpperCase().replaceAll('-', '_')}_`;
  const setting = Object.entries(settings).find(
    ([key, { env }]) => !key.startsWith(`${id}.`) || (env !== undefined && !env.startsWith(prefix)),
  );
  if (setting !== undefined) {
    return `has the setting ${setting[0]}: settings of a pack must begin with "${id}.", and their variables with ${prefix}`;
  }
  const variable = Object.values(settings).find(
    ({ env }) => env !== undefined && reads(env, id),
  )?.env;
  if (variable !== undefined) {
    return `has the variable ${variable}, which belongs to a setting of svc or of another pack: rename its setting`;
  }
  const host = permissions.hosts.find(
    (name) => name.startsWith('{') && !Object.hasOwn(settings, name.slice(1, -1)),
  );
  if (host !== undefined) {
    return `names the host ${host}, but has no such setting`;
  }
  return permissions.read
    .map((folder) => closedCause(folder, folders))
    .find((cause) => cause !== undefined);
}

/**
 * Returns the real paths of folders granted to a pack; throws if one leads to a closed one, also by
 * a link inside it.
 */
export function readableFolders(
  folders: readonly string[],
  closed: ClosedFolders,
): readonly string[] {
  return folders.map((folder) => {
    const cause = closedCause(folder, closed) ?? leadingOut(realpathSync(folder));
    if (cause !== undefined) {
      throw errors.no_folder({ cause });
    }
    return realpathSync(folder);
  });
}

/** Returns the home folder; none if the system knows no such user. */
function home(): readonly string[] {
  try {
    return [homedir()];
  } catch {
    return [];
  }
}

function closedCause(folder: string, closed: ClosedFolders): string | undefined {
  const places = [...systemFolders, ...home(), ...closed].flatMap((place) => [place, real(place)]);
  const hit = [folder, real(folder)].some((name) =>
    places.some((place) => isWithin(name, place) || isWithin(place, name)),
  );
  return hit
    ? `reads ${JSON.stringify(folder)}: folders of svc and of the system are closed to packs`
    : undefined;
}

/**
 * Returns a link that leads out of the folder: the permission model compares names and follows
 * links, so it would open the target.
 */
function leadingOut(root: string): string | undefined {
  const folders = [root];
  let seen = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      seen += 1;
      if (seen > maxEntries) {
        return `reads ${JSON.stringify(root)}, which has more than ${maxEntries} files: use a smaller folder`;
      }
      if (entry.isSymbolicLink() && !isWithin(real(path), root)) {
        return `reads ${JSON.stringify(root)}, in which the link ${JSON.stringify(path)} leads out: remove the link`;
      }
      if (entry.isDirectory()) {
        folders.push(path);
      }
    }
  }
  return undefined;
}

const isWithin = (path: string, place: string): boolean =>
  path === place || path.startsWith(place.endsWith(sep) ? place : place + sep);

/** Returns the real path; a missing file keeps its name. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
