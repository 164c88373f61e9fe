import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { readFrontMatter, readPlainFile } from 'svc/markdown-file';
import { type Logger, messageOf, type PluginDirectory } from 'svc/sdk';

import type { SourcedFile } from '../documents/sourced-docs.ts';

const maxFiles = 2_000;
const maxBytes = 256 * 1024;
const deepest = 8;
/** Plugin that carries them in the single binary, with the list of their names. */
const carrier = 'shipped-files';
const listed = 'vault/index.json';

/** A playbook as it ships. Its header is read when it is needed: mostly it is known already. */
export interface ShippedPlaybook {
  readonly path: string;
  readonly digest: string;
  read(): SourcedFile;
}

/** The playbooks that come with the product: those of its folder, or those that the single binary carries. */
export async function shippedPlaybooks(
  root: string,
  plugins: PluginDirectory,
  log: Logger,
): Promise<readonly ShippedPlaybook[]> {
  const folder = join(root, 'vault');
  const names = await namesBelow(folder, '', deepest);
  const texts =
    names.length > 0
      ? await Promise.all(names.map((name) => textOf(folder, name, log)))
      : carried(plugins);
  return texts
    .flatMap((text) => text ?? [])
    .map(({ name, content }) => {
      const path = `vault/${name}`;
      const digest = createHash('sha256').update(content).digest('hex');
      return { path, digest, read: () => playbook({ path, content, digest }, log) };
    });
}

interface Text {
  readonly name: string;
  readonly content: string;
}

async function namesBelow(folder: string, within: string, depth: number): Promise<string[]> {
  const entries = await readdir(join(folder, within), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') {
        return [];
      }
      throw error;
    },
  );
  const found = await Promise.all(
    entries.map(async (entry) => {
      const name = within === '' ? entry.name : `${within}/${entry.name}`;
      return entry.isDirectory() && depth > 0
        ? await namesBelow(folder, name, depth - 1)
        : entry.isFile() && name.endsWith('.md')
          ? [name]
          : [];
    }),
  );
  return found.flat().toSorted().slice(0, maxFiles);
}

async function textOf(folder: string, name: string, log: Logger): Promise<Text | undefined> {
  try {
    return { name, content: await readPlainFile(folder, join(folder, name), maxBytes) };
  } catch (error) {
    log.warn(
      { event: 'knowledge.playbook_unreadable', error, file: name },
      `skipping playbook ${name}: ${messageOf(error)}`,
    );
    return undefined;
  }
}

function carried(plugins: PluginDirectory): readonly Text[] {
  const list = plugins.read(carrier, listed);
  const names =
    list === undefined ? [] : (JSON.parse(Buffer.from(list).toString('utf8')) as string[]);
  return names.flatMap((name) => {
    const bytes = plugins.read(carrier, `vault/${name}`);
    return bytes === undefined ? [] : [{ name, content: Buffer.from(bytes).toString('utf8') }];
  });
}

/**
 * Adds title and tags, which are in the header of a playbook; an unreadable header costs only these.
 */
function playbook(file: SourcedFile, log: Logger): SourcedFile {
  const { path, content } = file;
  if (!/^\uFEFF?---\r?\n/.test(content)) {
    return file;
  }
  try {
    const { title, tags } = readFrontMatter(content, { maxBytes }).header;
    const words = Array.isArray(tags)
      ? tags.filter((tag): tag is string => typeof tag === 'string')
      : [];
    return {
      ...file,
      ...(typeof title === 'string' && title.trim() !== '' && { title: title.slice(0, 200) }),
      tags: words,
    };
  } catch (error) {
    log.warn(
      { event: 'knowledge.playbook_header', error, file: path },
      `ignoring the header of playbook ${path}: ${messageOf(error)}`,
    );
    return file;
  }
}
