import { createHash } from 'node:crypto';

import type { PluginManifest } from 'svc/sdk';

/**
 * Permissions that a pack requests, as an administrator reads them, with the hash by which they are
 * accepted: of exactly these sentences.
 */
export interface Rights {
  readonly sentences: readonly string[];
  readonly hash: string;
}

/**
 * Returns every permission of a manifest. Whatever a pack may do is listed here, or needs no
 * permission.
 */
export function rightsOf(manifest: PluginManifest): Rights {
  const {
    id,
    entry,
    limits,
    routes,
    mounts,
    permissions,
    actions,
    settings,
    contributes,
    events,
    skills,
  } = manifest;
  const sentences = [
    ...(entry === undefined
      ? []
      : [
          `runs code in a restricted process, with up to ${limits.heap_mb} MB of heap and ${limits.rss_mb} MB of memory`,
        ]),
    ...permissions.read.map((folder) => `reads the folder ${shown(folder)}`),
    ...permissions.hosts.map((host) =>
      host.startsWith('{')
        ? `calls the host in its setting ${host.slice(1, -1)}, through svc`
        : `calls the host ${host}, through svc`,
    ),
    ...(permissions.network
      ? ['opens network connections to any address and listens on ports']
      : []),
    ...(permissions.disk_mb > 0 ? [`stores its own tables, up to ${permissions.disk_mb} MB`] : []),
    ...events.map((event) => `receives every event ${event}`),
    ...skills.map(
      ({ key, class: kind, description }) =>
        `runs the ${kind} skill ${key} for people and agents: ${shown(description)}`,
    ),
    ...routes.map(
      ({ method, path, access }) =>
        `answers ${method} ${shown(path)} for ${callers[access] ?? `holders of ${shown(access)}`}`,
    ),
    ...mounts.map((mount) => `uses the paths below ${shown(mount)}`),
    ...Object.entries(actions).map(
      ([action, allows]) => `adds the action ${action}: ${shown(allows)}`,
    ),
    ...Object.entries(settings).map(
      ([key, { env, sensitive }]) =>
        `reads the setting ${key}${env === undefined ? '' : ` (${env})`}${sensitive ? ', a secret' : ''}`,
    ),
    ...Object.entries(contributes).flatMap(([point, values]) =>
      Object.entries(values).map(([name, value]) => contribution(point, name, value)),
    ),
  ];
  return { sentences, hash: sha256(JSON.stringify([id, sentences])) };
}

const callers: Readonly<Record<string, string>> = {
  public: 'everybody, without signing in',
  any: 'everybody who is signed in',
  admin: 'administrators',
  machine: 'edges',
};

function contribution(point: string, name: string, value: unknown): string {
  const { method, path } = (value ?? {}) as { method?: unknown; path?: unknown };
  const asks =
    point === 'cli.verbs'
      ? `asks ${String(method)} ${shown(String(path))}`
      : `sha256 ${sha256(JSON.stringify(value)).slice(0, 16)}`;
  return `contributes ${shown(name)} to ${point} (${asks})`;
}

/** Shows a stranger's text in a sentence of ours: on one line, and without control characters. */
const shown = (text: string): string =>
  /^[ -~]+$/.test(text)
    ? text
    : JSON.stringify(text).replaceAll(
        /[^ -~]/g,
        (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
