import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

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
  area: ['plugin.json', 'index.ts', 'routes.ts', 'schema.ts', 'README.md'],
  pack: ['plugin.json', 'index.ts', 'README.md'],
  built: ['plugin.json', 'index.cjs', 'README.md'],
} as const;

export const scaffoldFolder = 'bin/dev/scaffold';

/** Packages that run the test of a pack, and that an editor needs. */
const lentPackages = ['tsx', 'typebox'];

/** Writes a new plugin; returns the files it wrote. */
export function scaffold({ id, folder, root, form }: NewPlugin): readonly string[] {
  const test =
    form === 'area'
      ? join(root, 'test', 'plugins', `${id}.test.ts`)
      : join(folder, 'test', `${id}.test.ts`);
  const filled = (template: string): string =>
    readFileSync(join(root, scaffoldFolder, template), 'utf8')
      .replaceAll('plugin-id', id)
      // The code of a pack runs where the plugin packs lets it.
      .replace('[plugin]', form === 'pack' ? "['packs', plugin]" : '[plugin]')
      .replace('plugin-folder', relative(dirname(test), folder));
  const files = new Map([
    ...templates[form].map((name) => [join(folder, name), filled(`${form}/${name}`)] as const),
    ...(form === 'pack' ? [[join(folder, 'package.json'), filled('pack/npm.json')] as const] : []),
    ...(form === 'built' ? [] : [[test, filled('test.ts')] as const]),
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
  lentPackages.forEach((name) =>
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'dir'),
  );
}
