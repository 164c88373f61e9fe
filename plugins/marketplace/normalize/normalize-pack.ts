import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Uploaded } from '../archive/arrivals.ts';
import { type PackFiles, refused, shown } from '../archive/entry-list.ts';
import { formFile } from '../archive/form-file.ts';
import { readFolder } from '../archive/read-folder.ts';
import { untar } from '../archive/tar.ts';
import { unzip } from '../archive/unzip.ts';
import { filesOfCommit } from '../git/commit-files.ts';
import { claudeForm, ignoredParts } from '../layout/claude-plugin.ts';
import type { Naming, PackForm } from '../layout/pack-form.ts';
import { svcForm } from '../layout/svc-pack.ts';
import { rulesVersion } from '../scan/rules.ts';
import { scan, type ScanReport } from '../scan/scan.ts';
import { errors } from './errors.ts';
import { textChanges } from './text-changes.ts';
import { hashOf, listOf, ownFolder, type NormalizedFile, writeAll } from './pack-folder.ts';

/** Files of a pack: an archive in a file or a part of one, the objects of a git commit, or a local folder. */
export type PackContent =
  | {
      readonly kind: 'archive';
      readonly file: string;
      readonly from?: number;
      readonly to?: number;
    }
  | { readonly kind: 'git'; readonly bytes: Uint8Array; readonly commit: string }
  | { readonly kind: 'folder'; readonly path: string };

export interface NormalizeOrder {
  readonly content: PackContent;
  /** The folder of the pack within the content; empty: all of it. */
  readonly path: string;
  readonly naming: Naming;
  /** Empty folder for its files; if absent, nothing is written. */
  readonly staging: string | undefined;
  /** Folder of installed packs, by id: a pack of the same id is what this one is compared with. */
  readonly installed?: string;
}

/** Result of unpacking, parsing and scanning a pack; its files are in `staging`. */
export interface NormalizedPack extends Omit<PackForm, 'files'>, ScanReport {
  /** `plugin.json` as it will be read. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly files: readonly NormalizedFile[];
  /** Hash of all files with their names. */
  readonly content_hash: string;
  readonly rules_version: number;
}

export interface NormalizeResult {
  readonly normalized: NormalizedPack;
  /** Texts that differ from those of the installed version, if there is one. */
  readonly changes: readonly string[];
}

/** Unpacks a stranger's bytes, makes a pack of them, looks it through, and writes it down; all of it away from the request thread. */
export function normalizePack({
  content,
  path,
  naming,
  staging,
  installed,
}: NormalizeOrder): NormalizeResult {
  const form = formOf(filesOf(content, pathParts(path)), naming);
  const { files, ...told } = form;
  const manifest = JSON.parse(Buffer.from(files.get('plugin.json')!).toString('utf8')) as Record<
    string,
    unknown
  >;
  const report = scan(files, declaredHosts(manifest, form.servers));
  const listed = listOf(files);
  if (staging !== undefined) {
    writeAll(files, staging);
  }
  const normalized = {
    ...told,
    ...report,
    manifest,
    files: listed,
    content_hash: hashOf(listed),
    rules_version: rulesVersion,
  };
  const before = installed === undefined ? undefined : join(installed, normalized.id);
  return {
    normalized,
    changes:
      before !== undefined && existsSync(before) ? textChanges(ownFolder(before), files) : [],
  };
}

/** Recognizes the layout of a folder: ours, a Claude plugin, or bare skills. */
function formOf(files: PackFiles, naming: Naming): PackForm {
  const plain = new Map([...files].filter(([name]) => !isNoise(name)));
  const hidden = files.size - plain.size;
  const form =
    plain.has('plugin.json') && naming.entry?.['strict'] !== false
      ? svcForm(plain, naming)
      : claudeForm(plain, naming);
  if (form === undefined) {
    const ignored = ignoredParts(files);
    throw ignored.length === 0
      ? errors.no_pack()
      : errors.nothing_used({ parts: ignored.join('; ') });
  }
  if (
    naming.entry === undefined &&
    naming.version !== undefined &&
    (form.id !== naming.name || form.version !== naming.version)
  ) {
    // A signature is over the bytes alone: what they are is said by themselves.
    throw errors.other_pack({
      name: `${naming.name}`,
      version: naming.version,
      id: form.id,
      formVersion: form.version,
    });
  }
  return hidden === 0
    ? form
    : {
        ...form,
        ignored: [
          ...form.ignored,
          `${hidden} hidden ${hidden === 1 ? 'file is' : 'files are'} left out`,
        ],
      };
}

/** Files of tools and systems, which nobody wrote for a reader; two of them say what the pack is. */
const isNoise = (name: string): boolean =>
  name
    .split('/')
    .some((part) => part.startsWith('.') && !/^\.(?:claude-plugin|mcp\.json)$/.test(part)) ||
  /(?:^|\/)(?:__MACOSX|node_modules)\//.test(name);

/** Finds the archive in a file that came with a request. */
export function arrive({
  file,
  contentType,
}: {
  readonly file: string;
  readonly contentType: string;
}): Uploaded {
  const body = readFileSync(file);
  const { bytes, fields } = formFile(body, contentType);
  const from = bytes.byteOffset - body.byteOffset;
  return {
    file,
    from,
    to: from + bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    fields,
  };
}

/** The same look at what lies in a folder already. */
export function look({
  folder,
  lock,
}: {
  readonly folder: string;
  readonly lock: Pick<NormalizedPack, 'manifest' | 'servers'>;
}): ScanReport {
  return scan(ownFolder(folder), declaredHosts(lock.manifest, lock.servers));
}

/** Returns the hosts that a pack declares, for svc and for its MCP servers. */
function declaredHosts(
  { permissions }: NormalizedPack['manifest'],
  servers: NormalizedPack['servers'],
): readonly string[] {
  const { hosts = [] } = (permissions ?? {}) as { readonly hosts?: readonly unknown[] };
  const own = Array.isArray(hosts)
    ? hosts.map((host) => String(host).replace(/^\*\./, '').replace(/:\d+$/, ''))
    : [];
  return [...own, ...servers.map(({ url }) => new URL(url).hostname)];
}

function filesOf(content: PackContent, path: string): PackFiles {
  switch (content.kind) {
    case 'folder':
      return readFolder({ root: content.path, path, isForeign: true });
    case 'git':
      return filesOfCommit(Buffer.from(content.bytes), content.commit, path);
    case 'archive': {
      const bytes = readFileSync(content.file).subarray(content.from, content.to);
      return below(bytes[0] === 0x50 && bytes[1] === 0x4b ? unzip(bytes) : untar(bytes), path);
    }
  }
}

/** Normalizes a path to `a/b`, never above its start. */
function pathParts(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) {
    throw refused(`the path ${shown(path)} leads out of the pack`);
  }
  return parts.join('/');
}

const below = (files: PackFiles, path: string): PackFiles =>
  path === ''
    ? files
    : new Map(
        [...files].flatMap(([name, bytes]) =>
          name.startsWith(`${path}/`) ? [[name.slice(path.length + 1), bytes] as const] : [],
        ),
      );
