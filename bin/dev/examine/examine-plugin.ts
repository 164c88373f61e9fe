import { basename, dirname } from 'node:path';
import { Script } from 'node:vm';

import { readPersona, readSkill } from 'svc/markdown-file';

import { bundlePlugin, bundleThread } from '../../bundler/bundle.ts';
import {
  folderOnDisk,
  type PluginFolder,
  verifyIntegrity,
  workersIn,
} from '../../../core/host/index.ts';
import { readManifest } from '../../manifest/read-manifest.ts';
import { messageOf, type PluginManifest } from '../../../core/sdk/index.ts';
import { scripts } from '../../../core/storage/index.ts';
import { areaCommandsOf } from '../../manifest/area-commands.ts';
import { verbsOf } from '../../manifest/verb.ts';
import { placementOf } from './placement.ts';
import { sourcesFor } from '../packaging/prebuilt-plugin.ts';
import { errors } from './errors.ts';
import { unmetNeeds } from './unmet-needs.ts';

export interface Problem {
  readonly stage:
    | 'files'
    | 'manifest'
    | 'needs'
    | 'integrity'
    | 'compile'
    | 'migrations'
    | 'persona'
    | 'skill';
  readonly message: string;
}

export interface Verdict {
  readonly problems: readonly Problem[];
  /** Placement of the plugin; undefined if its manifest does not say. */
  readonly placement: string | undefined;
}

/** Everything that would keep a plugin from loading, as far as it can be seen without running it. */
export async function examine(path: string): Promise<Verdict> {
  const id = basename(path);
  const problems: Problem[] = [];
  const attempt = async <T>(
    stage: Problem['stage'],
    look: () => T | Promise<T>,
  ): Promise<T | undefined> => {
    try {
      return await look();
    } catch (error) {
      problems.push({ stage, message: messageOf(error) });
      return undefined;
    }
  };
  // In packs/ the rules for what came from elsewhere hold.
  const folder = folderOnDisk(id, path, basename(dirname(path)) === 'packs' ? 'data' : 'shipped');
  const names = await attempt('files', () => folder.files());
  const manifest = await attempt('manifest', () => readManifest(folder));
  if (!names || !manifest) {
    return { problems, placement: manifest && placementOf(manifest) };
  }
  await attempt('manifest', () => verbsOf(manifest));
  await attempt('manifest', () => areaCommandsOf(manifest, folder));
  (await unmetNeeds(manifest, path)).forEach((message) =>
    problems.push({ stage: 'needs', message }),
  );
  await attempt('integrity', () => verifyIntegrity(folder, manifest));
  await attempt('compile', () => readCode(folder, manifest));
  await attempt('migrations', () => scripts(id, migrationsOf(folder, names)));
  for (const name of names) {
    const where = { file: `${path}/${name}` };
    const skill = /^skills\/([^/]+)\/SKILL\.md$/.exec(name)?.[1];
    if (/^agents\/[^/]+\.md$/.test(name)) {
      await attempt('persona', () => readPersona(textOf(folder, name), where));
    } else if (skill !== undefined) {
      await attempt('skill', () => readSkill(textOf(folder, name), skill, where));
    }
  }
  return { problems, placement: placementOf(manifest) };
}

/** Source is bundled, a prebuilt entry only parsed: code that is being judged does not run. */
async function readCode(folder: PluginFolder, { id, kind, entry }: PluginManifest): Promise<void> {
  if (entry === undefined) {
    return;
  }
  const code = folder.read(entry);
  if (!code) {
    throw errors.entry_missing({ path: folder.path, entry });
  }
  const workers = kind === 'pack' ? [] : workersIn(folder.files(), entry.endsWith('.cjs'));
  if (!entry.endsWith('.cjs')) {
    const from = sourcesFor(kind);
    await bundlePlugin(`${folder.path}/${entry}`, id, from);
    await Promise.all(workers.map((name) => bundleThread(`${folder.path}/${name}.ts`, id, from)));
    return;
  }
  for (const name of [entry, ...workers.map((worker) => `${worker}.cjs`)]) {
    try {
      void new Script(`(function () {${textOf(folder, name)}\n})`, {
        filename: `${folder.path}/${name}`,
      });
    } catch (cause) {
      throw errors.not_javascript({ path: folder.path, name, cause: messageOf(cause) }, { cause });
    }
  }
}

function migrationsOf(folder: PluginFolder, names: readonly string[]) {
  return names
    .filter((name) => /^migrations\/[^/]+\.sql$/.test(name))
    .map((name) => ({ name: name.slice('migrations/'.length), sql: textOf(folder, name) }));
}

const textOf = (folder: PluginFolder, name: string): string => folder.read(name)!.toString('utf8');
