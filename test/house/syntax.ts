import { join } from 'node:path';

import type { Node, SourceFile } from 'typescript/unstable/ast';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API, type APIOptions } from 'typescript/unstable/sync';

import { projectRoot } from './source.ts';

/** A source file as the compiler reads it; `path` is from the project root. */
export interface Parsed {
  readonly path: string;
  readonly file: SourceFile;
}

/** Returns the source files of a tsconfig, parsed and not checked; those of tests are left out. */
export const parsed = (config: string): Parsed[] =>
  read(projectRoot, config, {}, (path) => !path.startsWith('test/'));

/** Returns files that stand nowhere, for a rule to be tried on, in the order of their paths. */
export function parsedTexts(texts: readonly (readonly [path: string, text: string])[]): Parsed[] {
  const files = Object.fromEntries(texts.map(([path, text]) => [`/${path}`, text]));
  const config = JSON.stringify({ files: Object.keys(files) });
  const fs = createVirtualFileSystem({ ...files, '/tsconfig.json': config });
  const found = read('/', 'tsconfig.json', { fs }, () => true);
  return texts.map(([path]) => found.find((one) => one.path === path)!);
}

function read(
  root: string,
  config: string,
  options: APIOptions,
  isWanted: (path: string) => boolean,
): Parsed[] {
  const api = new API({ ...options, cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openProject: join(root, config) });
    const { program, rootFiles } = snapshot.getProjects()[0]!;
    return rootFiles
      .map((name) => name.slice(root.length))
      .filter(isWanted)
      .map((path) => ({ path, file: program.getSourceFile(join(root, path))! }));
  } finally {
    api.close();
  }
}

/** Walks a tree, parents first; the last of `parents` is the nearest. */
export function walk(
  node: Node,
  visit: (node: Node, parents: readonly Node[]) => void,
  parents: readonly Node[] = [],
): void {
  visit(node, parents);
  const path = [...parents, node];
  node.forEachChild((child) => walk(child, visit, path));
}

/** Returns where a node stands, as an editor opens it. */
export function placeOf({ path, file }: Parsed, node: Node): string {
  const line = file.text.slice(0, node.getStart(file)).split('\n').length;
  return `${path}:${line}`;
}
