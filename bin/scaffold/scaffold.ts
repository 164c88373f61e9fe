import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface NewPlugin {
  readonly id: string;
  /** Where it is made; must not exist. */
  readonly folder: string;
  /** The source of svc. */
  readonly root: string;
  /** An area of that source, with its test among the others; or a pack that stands on its own. */
  readonly form: 'area' | 'pack';
}

/** The files of each form, as they stand in the folder of that name beside this file: a plugin that works as it is. */
const templates = {
  area: ['plugin.json', 'index.ts', 'routes.ts', 'schema.ts', 'README.md'],
  pack: ['plugin.json', 'index.ts', 'README.md'],
} as const;

/** What the test of a pack is run with, and what an editor wants to see. */
const lentPackages = ['tsx', 'typebox'];

/** Writes a new plugin; returns the files it wrote. */
export function scaffold({ id, folder, root, form }: NewPlugin): readonly string[] {
  const test = form === 'area' ? join(root, 'test', 'plugins', `${id}.test.ts`) : join(folder, 'test', `${id}.test.ts`);
  const filled = (template: string): string =>
    readFileSync(new URL(template, import.meta.url), 'utf8')
      .replaceAll('plugin-id', id)
      // The code of a pack runs where the plugin packs lets it.
      .replace('[plugin]', form === 'pack' ? "['packs', plugin]" : '[plugin]')
      .replace('plugin-folder', relative(dirname(test), folder));
  const files = new Map([
    ...templates[form].map((name) => [join(folder, name), filled(`${form}/${name}`)] as const),
    ...(form === 'pack' ? [[join(folder, 'package.json'), filled('pack/npm.json')] as const] : []),
    [test, filled('test.ts')],
  ]);
  for (const [file, text] of files) {
    mkdirSync(dirname(file), { recursive: true });
    // Never over something that is there.
    writeFileSync(file, text, { flag: 'wx' });
  }
  if (form === 'pack') {
    lendPackages(folder, root);
  }
  return [...files.keys()];
}

/** Outside the tree `svc/sdk` and `svc/testing` are found through links to the checkout that made the plugin. */
function lendPackages(folder: string, root: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(root, join(modules, 'svc'), 'dir');
  lentPackages.forEach((name) => symlinkSync(join(root, 'node_modules', name), join(modules, name), 'dir'));
}
