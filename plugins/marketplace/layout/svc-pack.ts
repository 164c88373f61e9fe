import { readPersona, readSkill } from 'svc/markdown-file';
import type { SvcError } from 'svc/sdk';
import { isSvcError, messageOf } from 'svc/sdk';

import type { PackFiles } from '../archive/entry-list.ts';
import { errors } from './errors.ts';
import { idForm, type Naming, type PackForm, takenFor, textOf } from './pack-form.ts';

const refused = (message: string): SvcError => errors.manifest_refused({ message });

/** A pack of our own layout: its files stay as they are, byte for byte, since it may carry their hashes. */
export function svcForm(files: PackFiles, naming: Naming): PackForm {
  const manifest = manifestOf(files.get('plugin.json')!);
  const { id, version, title, description, kind } = manifest as Record<string, string | undefined>;
  if (typeof id !== 'string' || !idForm.test(id)) {
    throw refused('has no "id" of 2 to 41 lower-case letters, digits and dashes');
  }
  if (naming.reserved.includes(id)) {
    throw refused(`has the id "${id}", which a part of svc uses; choose another`);
  }
  if (kind !== 'pack') {
    throw refused('is of another kind than "pack": set "kind" to "pack"');
  }
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
    throw refused('has no "version" such as 1.0.0');
  }
  const personas = [...files].flatMap(([name, bytes]) =>
    /^agents\/[^/]+\.md$/.test(name) ? [readPersona(textOf(bytes), { file: name })] : [],
  );
  const skills = [...files].flatMap(([name, bytes]) => {
    const [, folder] = /^skills\/([^/]+)\/SKILL\.md$/.exec(name) ?? [];
    return folder === undefined ? [] : [readSkill(textOf(bytes), folder, { file: name })];
  });
  // Nobody can tell names apart by the case of their letters.
  const taken = new Set([...takenFor(id, naming)].map((name) => name.toLowerCase()));
  const shadowed = [...personas, ...skills].find(({ name }) => taken.has(name.toLowerCase()));
  if (shadowed !== undefined) {
    throw errors.name_taken({ id, name: shadowed.name });
  }
  const ownTools = toolKeysOf(manifest);
  return {
    layout: 'svc',
    id,
    version,
    title: title ?? id,
    description: description ?? '',
    files,
    personas: personas.map(({ name }) => name),
    skills: skills.map(({ name }) => name),
    servers: [],
    tools: [...new Set([...personas, ...skills].flatMap(({ tools }) => tools))]
      .filter((tool) => !ownTools.includes(tool))
      .toSorted(),
    ignored: withoutEffect(files),
  };
}

/** Folders that people bring along because other tools read them; svc does not. */
const withoutEffect = (files: PackFiles): readonly string[] =>
  ['rules', 'alerts', 'collectors', 'commands', 'hooks', 'output-styles'].flatMap((folder) => {
    const count = [...files.keys()].filter(
      (name) => name.startsWith(`${folder}/`) && /\.(?:md|json|ya?ml)$/.test(name),
    ).length;
    return count === 0
      ? []
      : [`its folder ${folder}/ is ignored (${count} ${count === 1 ? 'file' : 'files'})`];
  });

/** Keys of the skills that its code answers. */
export const toolKeysOf = (manifest: Readonly<Record<string, unknown>>): readonly string[] =>
  (Array.isArray(manifest['skills'])
    ? (manifest['skills'] as ({ key?: unknown } | null)[])
    : []
  ).map((skill) => String(skill?.key));

function manifestOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const manifest: unknown = JSON.parse(textOf(bytes));
    if (!isShallow(manifest)) {
      throw refused(`is nested deeper than ${deepest} levels`);
    }
    if (typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)) {
      return manifest as Readonly<Record<string, unknown>>;
    }
  } catch (error) {
    throw isSvcError(error) ? error : refused(`is not JSON: ${messageOf(error)}`);
  }
  throw refused('is not an object');
}

const deepest = 64;

/** Level by level, since what recurses into a stranger's value runs out of stack. */
function isShallow(root: unknown): boolean {
  let level: readonly unknown[] = [root];
  for (let depth = 0; depth <= deepest && level.length > 0; depth += 1) {
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return level.length === 0;
}
