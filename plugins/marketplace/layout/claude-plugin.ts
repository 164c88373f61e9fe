import { messageOf } from 'svc/sdk';

import type { PackFiles } from '../archive/entry-list.ts';
import { ClaudeParts } from './claude-parts.ts';
import { errors } from './errors.ts';
import {
  idFrom,
  type Naming,
  type PackForm,
  type PackServer,
  takenFor,
  textOf,
} from './pack-form.ts';

type Json = Readonly<Record<string, unknown>>;

/** Parts of a Claude plugin that svc ignores: by the field of its manifest and its default file. */
const withoutEffect: readonly {
  readonly field: string;
  readonly file: RegExp;
  readonly says: string;
}[] = [
  {
    field: 'hooks',
    file: /^hooks\//,
    says: 'its hooks are ignored: no file of a pack is run by events',
  },
  { field: 'lspServers', file: /^\.lsp\.json$|^lsp\//, says: 'its language servers are ignored' },
  { field: 'outputStyles', file: /^output-styles\//, says: 'its output styles are ignored' },
  { field: 'monitors', file: /^monitors\//, says: 'its monitors are ignored' },
  { field: 'userConfig', file: /^$/, says: 'its questions for settings (userConfig) are ignored' },
  {
    field: 'dependencies',
    file: /^$/,
    says: 'its dependencies on other plugins are ignored; install those yourself',
  },
];

/** Returns what svc ignores of a folder, by its files. */
export const ignoredParts = (files: PackFiles): readonly string[] =>
  withoutEffect.flatMap(({ file, says }) =>
    [...files.keys()].some((path) => file.test(path)) ? [says] : [],
  );

/** Converts a Claude plugin, or bare skills, to our format; undefined if it is neither. */
export function claudeForm(files: PackFiles, naming: Naming): PackForm | undefined {
  const file = files.get('.claude-plugin/plugin.json');
  const entry = naming.entry ?? {};
  const own = file === undefined ? {} : jsonOf(file, '.claude-plugin/plugin.json');
  const manifest = entry['strict'] === false ? entry : { ...entry, ...own };
  const name = textIn(manifest, 'name') ?? naming.name ?? onlySkillName(files) ?? 'skills';
  const id = idFrom(name, naming.reserved);
  const parts = new ClaudeParts(files, { id, taken: takenFor(id, naming) });
  parts.takeSkills(
    pathsIn(manifest, 'skills'),
    manifest['skills'] !== undefined && entry['strict'] === false,
  );
  parts.takeAgents(pathsIn(manifest, 'agents'));
  parts.takeCommands(pathsIn(manifest, 'commands'));
  const { servers, ignored } = serversOf(files, manifest);
  if (parts.isEmpty && servers.length === 0 && file === undefined && naming.entry === undefined) {
    return undefined;
  }
  const version = versionOf(textIn(manifest, 'version') ?? naming.version);
  const title = (textIn(manifest, 'displayName') ?? name).slice(0, 80);
  const description =
    (textIn(manifest, 'description') ?? `Skills and personas of ${name}.`)
      .replaceAll(/\s+/g, ' ')
      .trim()
      .slice(0, 400) || title;
  const made = { id, version, title, description, kind: 'pack', engines: { host: '^1.0.0' } };
  const useless = withoutEffect.filter(
    (one) =>
      manifest[one.field] !== undefined || [...files.keys()].some((path) => one.file.test(path)),
  );
  return {
    layout: file === undefined && naming.entry === undefined ? 'skills' : 'claude',
    id,
    version,
    title,
    description,
    servers,
    files: new Map([
      ['plugin.json', Buffer.from(`${JSON.stringify(made, undefined, 2)}\n`)],
      ...parts.files,
    ]),
    personas: parts.personas,
    skills: parts.skills,
    tools: parts.tools,
    ignored: [...useless.map(({ says }) => says), ...ignored, ...parts.notes],
  };
}

/** A single skill, at the top or in a folder, gives a pack without a manifest its name. */
function onlySkillName(files: PackFiles): string | undefined {
  const found = [...files.keys()].flatMap(
    (path) => /^(?:skills\/)?([^/]+)\/SKILL\.md$/.exec(path)?.[1] ?? [],
  );
  const top = files.get('SKILL.md');
  return found.length === 1 && top === undefined
    ? found[0]
    : top && /^name:\s*["']?([A-Za-z0-9-]+)/m.exec(textOf(top))?.[1];
}

function versionOf(text: string | undefined): string {
  const [, major = '0', minor = '0', patch = '0', rest = ''] =
    /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(-[0-9A-Za-z.-]{1,60})?/.exec(text ?? '') ?? [];
  return `${Number(major)}.${Number(minor)}.${Number(patch)}${rest}`;
}

/** Returns the servers that have an address; programs are not started. */
function serversOf(
  files: PackFiles,
  manifest: Json,
): { readonly servers: readonly PackServer[]; readonly ignored: readonly string[] } {
  const servers = new Map<string, PackServer>();
  const ignored: string[] = [];
  const field = manifest['mcpServers'];
  const named =
    typeof field === 'string'
      ? [field]
      : Array.isArray(field)
        ? field.filter((one): one is string => typeof one === 'string')
        : [];
  const inFiles = ['.mcp.json', ...named.map((path) => path.replace(/^\.\//, ''))].flatMap(
    (path) => {
      const file = files.get(path);
      return file === undefined ? [] : [jsonOf(file, path)];
    },
  );
  const inline =
    typeof field === 'object' && field !== null && !Array.isArray(field) ? [field as Json] : [];
  for (const [key, value] of [...inFiles, ...inline]
    .flatMap((map) => Object.entries((map['mcpServers'] ?? map) as Json))
    .slice(0, 50)) {
    const { url, command } = (value ?? {}) as { url?: unknown; command?: unknown };
    const name = idFrom(key, []).slice(0, 31).replace(/-+$/, '');
    if (typeof url === 'string' && /^https:\/\/[^${}\s]{1,1990}$/.test(url) && URL.canParse(url)) {
      servers.set(name, { name, url });
    } else if (typeof url === 'string') {
      ignored.push(
        `its MCP server ${JSON.stringify(key.slice(0, 60))} is ignored: its address is not a plain https:// address`,
      );
    } else if (command !== undefined) {
      ignored.push(
        `its MCP server ${JSON.stringify(key.slice(0, 60))} is ignored: it is a program, and programs of packs are not started`,
      );
    }
  }
  return { servers: [...servers.values()], ignored };
}

function pathsIn(manifest: Json, field: string): readonly string[] {
  const value = manifest[field];
  const paths =
    typeof value === 'string'
      ? [value]
      : Array.isArray(value)
        ? value.filter((one): one is string => typeof one === 'string')
        : [];
  return paths.map((path) => {
    const plain = path.replace(/^\.\//, '').replace(/\/+$/, '');
    if (plain.split('/').includes('..') || plain.startsWith('/')) {
      throw errors.path_leads_out({ path: JSON.stringify(path.slice(0, 100)), field });
    }
    return plain === '.' ? '' : plain;
  });
}

function jsonOf(bytes: Uint8Array, path: string): Json {
  try {
    const value: unknown = JSON.parse(textOf(bytes).replace(/^\uFEFF/, ''));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Json;
    }
  } catch (error) {
    throw errors.manifest_not_json({ path, cause: messageOf(error) });
  }
  throw errors.manifest_no_object({ path });
}

const textIn = (json: Json, key: string): string | undefined => {
  const value = json[key];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};
