import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { SvcError } from '../../../core/sdk/index.ts';

export interface NewPlugin {
  readonly id: string;
  /** Folder to create; must not exist. */
  readonly folder: string;
  /** The source of svc, or what the single binary has unpacked of it. */
  readonly root: string;
  /** An area of that source, with its test among the others; a pack that stands on its own; or one that needs no compiler, and so has no test. */
  readonly form: 'area' | 'pack' | 'built';
}

/** The files of each form, as they stand in the folder of that name in `scaffoldFolder`: a plugin that works as it is. */
const templates = {
  area: [
    'plugin.json',
    'index.ts',
    'routes.ts',
    'book.ts',
    'store.ts',
    'errors.ts',
    'migrations/001-init.sql',
    'migrations/002-add-jobs.sql',
    'cli/import.ts',
    'README.md',
  ],
  pack: ['plugin.json', 'index.ts', 'README.md'],
  built: ['plugin.json', 'index.cjs', 'README.md'],
} as const;

export const scaffoldFolder = 'bin/dev/scaffold';

/** Packages that run the test of a pack, and that an editor needs. */
const lentPackages = ['tsx', 'typebox'];

/** Writes a new plugin; returns the files it wrote. Nothing is written where one of them is there already. */
export function scaffold(plugin: NewPlugin): readonly string[] {
  const files = filesOf(plugin);
  const taken = [...files.keys()].find((file) => existsSync(file));
  if (taken !== undefined) {
    throw new SvcError(
      'conflict',
      `${taken} already exists: choose another id, or delete it first`,
      { reason: 'cli.plugin_exists' },
    );
  }
  for (const [file, text] of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  }
  if (plugin.form === 'pack') {
    lendPackages(plugin.folder, plugin.root);
  }
  return [...files.keys()];
}

/** Texts of the new files by their paths. */
function filesOf({ id, folder, root, form }: NewPlugin): ReadonlyMap<string, string> {
  const test =
    form === 'area'
      ? join(root, 'test', 'plugins', `${id}.test.ts`)
      : join(folder, 'test', `${id}.test.ts`);
  const filled = (template: string): string =>
    textFor(id, join(root, scaffoldFolder, form, template)).replace(
      'plugin-folder',
      relative(dirname(test), folder),
    );
  const files = new Map(templates[form].map((name) => [join(folder, name), filled(name)]));
  if (form === 'area') {
    files.set(join(root, 'plugins', 'lib', 'contracts', `${id}.ts`), filled('contract.ts'));
  }
  if (form === 'pack') {
    files.set(join(folder, 'package.json'), filled('npm.json'));
  }
  if (form !== 'built') {
    files.set(test, filled('test.ts'));
  }
  return files;
}

/** A file of a form with the id of the plugin in it. */
function textFor(id: string, file: string): string {
  const inSql = id.replaceAll('-', '_');
  return readFileSync(file, 'utf8')
    .replaceAll('plugin-id', id)
    .replaceAll('plugin_id', inSql)
    .replaceAll('PLUGIN_ID', inSql.toUpperCase());
}

/** The persona and the guide of a new pack, by their names in its folder. */
export function textsForAgents(id: string, root: string): ReadonlyMap<string, string> {
  const folder = join(root, scaffoldFolder, 'texts');
  return new Map([
    [`agents/${id}-clerk.md`, textFor(id, join(folder, 'persona.md'))],
    [`skills/${id}-guide/SKILL.md`, textFor(id, join(folder, 'guide.md'))],
  ]);
}

/** Names of texts that still describe the pack as it was created, although its code is not that any more. */
export function outdatedTexts(id: string, folder: string, root: string): readonly string[] {
  const from = join(root, scaffoldFolder, 'pack');
  const isAsCreated = (name: string, text: string): boolean =>
    existsSync(join(folder, name)) && readFileSync(join(folder, name), 'utf8') === text;
  const texts = [
    ['README.md', textFor(id, join(from, 'README.md'))] as const,
    ...textsForAgents(id, root),
  ];
  return isAsCreated('index.ts', textFor(id, join(from, 'index.ts')))
    ? []
    : texts.filter(([name, text]) => isAsCreated(name, text)).map(([name]) => name);
}

/** Outside the tree `svc/sdk` and `svc/testing` are found through links to the checkout that made the plugin. */
function lendPackages(folder: string, root: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(root, join(modules, 'svc'), 'dir');
  lentPackages.forEach((name) =>
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'dir'),
  );
}
