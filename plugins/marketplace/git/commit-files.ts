import { EntryList, limits, type PackFiles, refused, shown } from '../archive/entry-list.ts';
import { type GitObject, objectsOf } from './pack-objects.ts';

const folderMode = '40000';
const linkMode = '120000';
/** Texts for people and other tools, next to a pack: AGENTS.md is often a link to CLAUDE.md. */
const isAside = (path: string): boolean => /^[A-Z][A-Z_-]*\.md$/.test(path) && path !== 'SKILL.md';
/**
 * Max entries of one folder: a repository may be larger than a pack, and its folders are read on
 * the way.
 */
const maxEntries = 20_000;
const fileModes: ReadonlySet<string> = new Set(['100644', '100755', '100664']);

/** The files of one commit out of a packfile; a commit with links or submodules is refused, unless no layout reads them. */
export function filesOfCommit(pack: Buffer, commit: string, path = ''): PackFiles {
  const objects = objectsOf(pack);
  const root = /^tree ([0-9a-f]{40})\n/.exec(
    wanted(objects, commit, 'commit').data.toString('latin1'),
  )?.[1];
  if (root === undefined) {
    throw refused('the commit has no tree');
  }
  const list = new EntryList(limits.packedBytes);
  const parts = path.split('/').filter((part) => part !== '');
  walk(objects, folderAt(objects, root, parts), '', list);
  return list.end();
}

function folderAt(
  objects: ReadonlyMap<string, GitObject>,
  root: string,
  parts: readonly string[],
): string {
  return parts.reduce((tree, part) => {
    const found = entriesOf(wanted(objects, tree, 'tree').data).find(
      ({ name, mode }) => name === part && mode === folderMode,
    );
    if (found === undefined) {
      throw refused(`the commit has no folder ${shown(parts.join('/'))}`);
    }
    return found.id;
  }, root);
}

function walk(
  objects: ReadonlyMap<string, GitObject>,
  tree: string,
  inside: string,
  list: EntryList,
): void {
  for (const { mode, name, id } of entriesOf(wanted(objects, tree, 'tree').data)) {
    const path = inside === '' ? name : `${inside}/${name}`;
    if (mode === folderMode) {
      list.reserve(path, 0);
      walk(objects, id, path, list);
    } else if (fileModes.has(mode)) {
      const { data } = wanted(objects, id, 'blob');
      list.reserve(path, data.length);
      list.addFile(path, data);
    } else if (!(mode === linkMode && isAside(path))) {
      throw refused(
        `${shown(path)} is a ${mode === linkMode ? 'symbolic link' : 'submodule'}; a pack is made of plain files only`,
      );
    }
  }
}

function entriesOf(
  tree: Buffer,
): readonly { readonly mode: string; readonly name: string; readonly id: string }[] {
  const found: { mode: string; name: string; id: string }[] = [];
  for (let at = 0; at < tree.length;) {
    const nul = tree.indexOf(0, at);
    const space = tree.indexOf(0x20, at);
    if (nul === -1 || space === -1 || space > nul || nul + 21 > tree.length) {
      throw refused('a folder of the commit cannot be read');
    }
    const name = tree.toString('latin1', space + 1, nul);
    if (name.includes('/')) {
      throw refused(`${shown(name)} is not a valid file name`);
    }
    if (found.length >= maxEntries) {
      throw refused(`a folder of the commit has more than ${maxEntries} entries`);
    }
    found.push({
      mode: tree.toString('latin1', at, space),
      name,
      id: tree.toString('hex', nul + 1, nul + 21),
    });
    at = nul + 21;
  }
  return found;
}

function wanted(
  objects: ReadonlyMap<string, GitObject>,
  id: string,
  kind: GitObject['kind'],
): GitObject {
  const found = objects.get(id);
  if (found?.kind !== kind) {
    throw refused(`the repository did not send the ${kind} ${id.slice(0, 12)}`);
  }
  return found;
}
