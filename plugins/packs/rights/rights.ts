import { createHash } from 'node:crypto';

import type { PluginManifest, PointDirectory } from 'svc/sdk';

import { hostsIn } from './setting-hosts.ts';

/**
 * Permissions that a pack requests, as an administrator reads them, with the hash by which they are
 * accepted: of exactly these sentences, and of all that is contributed. It stays the same while
 * the plugin whose words describe a contribution is away.
 */
export interface Rights {
  readonly sentences: readonly string[];
  readonly hash: string;
  /** The hash that an earlier svc made of the same; undefined where that is no other one. */
  readonly earlier?: string | undefined;
}

export type PackPoints = Pick<PointDirectory, 'refusal' | 'sentence'>;

/**
 * Returns every permission of a manifest. Whatever a pack may do is listed here, or needs no
 * permission.
 */
export function rightsOf(manifest: PluginManifest, points: PackPoints): Rights {
  const { id, contributes } = manifest;
  const own = sentencesOf(manifest);
  const contributed = Object.entries(contributes).flatMap(([point, values]) =>
    Object.entries(values).map(([name, value]) => ({ point, name, value })),
  );
  const hashOf = (digits: number): string =>
    sha256(JSON.stringify([id, [...own, ...contributed.map((one) => termOf(one, digits))]]));
  return {
    sentences: [
      ...own,
      ...contributed.map(({ point, name, value }) =>
        plain(
          points.sentence(point, name, value) ??
            `contributes ${name} to ${point}: ${JSON.stringify(value)}`,
        ),
      ),
    ],
    hash: hashOf(64),
    ...(contributed.length > 0 && { earlier: hashOf(16) }),
  };
}

/** A default is a host that the author has chosen: it is accepted like one that the manifest names. */
function inSetting(key: string, settings: PluginManifest['settings']): string {
  const hosts = hostsIn(settings[key]?.default);
  return `the host in its setting ${key}${hosts.length === 0 ? '' : `, by default ${shown(hosts.join(', '))}`}`;
}

function sentencesOf(manifest: PluginManifest): readonly string[] {
  const { entry, limits, routes, mounts, permissions, actions, settings, events, skills } =
    manifest;
  return [
    ...(entry === undefined
      ? []
      : [
          `runs code in a restricted process, with up to ${limits.heap_mb} MB of heap and ${limits.rss_mb} MB of memory`,
        ]),
    ...permissions.read.map((folder) => `reads the folder ${shown(folder)}`),
    ...permissions.hosts.map((host) =>
      host.startsWith('{')
        ? `calls ${inSetting(host.slice(1, -1), settings)}, through svc`
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
  ];
}

const callers: Readonly<Record<string, string>> = {
  public: 'everybody, without signing in',
  any: 'everybody who is signed in',
  admin: 'administrators',
  machine: 'edges',
};

interface Contributed {
  readonly point: string;
  readonly name: string;
  readonly value: unknown;
}

/** What is hashed of a contribution; nobody reads it. */
function termOf({ point, name, value }: Contributed, digits: number): string {
  const { method, path } = (value ?? {}) as { method?: unknown; path?: unknown };
  const asks =
    point === 'cli.verbs' && digits < 64
      ? `asks ${String(method)} ${shown(String(path))}`
      : `sha256 ${sha256(JSON.stringify(value)).slice(0, digits)}`;
  return `contributes ${shown(name)} to ${point} (${asks})`;
}

const longestSentence = 4_000;

/** Returns a sentence with a stranger's text on one line, without characters that hide or turn. */
function plain(text: string): string {
  const line = text.replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`,
  );
  return line.length <= longestSentence
    ? line
    : `${line.slice(0, longestSentence)}… (${line.length - longestSentence} more characters in its plugin.json)`;
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
