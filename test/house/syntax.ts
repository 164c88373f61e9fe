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

/** Returns every source file of a tsconfig, parsed and not checked. */
export const parsed = (config: string): Parsed[] =>
  read(projectRoot, config, {}).filter(({ path }) => !path.includes('/fixtures/'));

/** Returns one file that stands nowhere, for a rule to be tried on. */
export function parsedText(path: string, text: string): Parsed {
  const files = { '/tsconfig.json': `{ "files": ["${path}"] }`, [`/${path}`]: text };
  return read('/', 'tsconfig.json', { fs: createVirtualFileSystem(files) })[0]!;
}

function read(root: string, config: string, options: APIOptions): Parsed[] {
  const api = new API({ ...options, cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openProject: join(root, config) });
    const { program, rootFiles } = snapshot.getProjects()[0]!;
    return rootFiles.map((name) => ({
      path: name.slice(root.length),
      file: program.getSourceFile(name)!,
    }));
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
