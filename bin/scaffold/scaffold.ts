import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface NewPlugin {
  readonly id: string;
  /** Where it is made; must not exist. */
  readonly folder: string;
  /** The source of svc. */
  readonly root: string;
  /** Whether it becomes a plugin of that source, with its test among the others. */
  readonly inside: boolean;
}

const ownFiles = ['plugin.json', 'index.ts', 'routes.ts', 'schema.ts', 'README.md'];
/** What its test imports, and what an editor wants to see. */
const lentPackages = ['tsx', 'typebox'];

/** Writes a new plugin from the files beside this one, which are a plugin themselves; returns what it wrote. */
export function scaffold({ id, folder, root, inside }: NewPlugin): readonly string[] {
  const testFile = inside ? join(root, 'test', 'plugins', `${id}.test.ts`) : join(folder, 'test', `${id}.test.ts`);
  const filled = (template: string): string =>
    readFileSync(new URL(template, import.meta.url), 'utf8')
      .replaceAll('plugin-id', id)
      .replace('plugin-folder', relative(dirname(testFile), folder))
      // The schema has a relative address only inside the tree.
      .replace(inside ? '' : /.*"\$schema".*\n/, '');
  const files = new Map([
    [testFile, filled('test.ts')],
    ...ownFiles.map((name) => [join(folder, name), filled(name)] as const),
    ...(inside ? [] : [[join(folder, 'package.json'), filled('outside.package.json')] as const]),
  ]);
  for (const [file, text] of files) {
    mkdirSync(dirname(file), { recursive: true });
    // Never over something that is there.
    writeFileSync(file, text, { flag: 'wx' });
  }
  if (!inside) {
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
