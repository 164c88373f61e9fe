import { SvcError } from 'svc/sdk';

import type { KnowledgeShelf, ShelvedDocument } from '../contract.ts';
import { docPath } from './doc-path.ts';
import type { Origin, SourcedDocs } from './sourced-docs.ts';

/** So that no transaction holds others up. */
const atOnce = 25;

/** Folders that other rooms fill with what they write; to people they are like the vault: read-only, until made their own. */
export class Shelf implements KnowledgeShelf {
  readonly #docs: SourcedDocs;

  constructor(docs: SourcedDocs) {
    this.#docs = docs;
  }

  async marks(folder: string): Promise<ReadonlyMap<string, string>> {
    const known = await this.#docs.known(originOf(folder));
    return new Map([...known].map(([path, { digest }]) => [path.slice(folder.length + 1), digest]));
  }

  async put(folder: string, documents: readonly ShelvedDocument[], removed: readonly string[] = []): Promise<void> {
    const origin = originOf(folder);
    const files = documents.map(({ name, mark, ...file }) => ({ ...file, path: `${folder}/${name}`, digest: mark }));
    for (let from = 0; from === 0 || from < files.length; from += atOnce) {
      const gone = from === 0 ? removed.map((name) => `${folder}/${name}`) : [];
      await this.#docs.replace(origin, files.slice(from, from + atOnce), gone);
    }
  }
}

function originOf(folder: string): Origin {
  if (folder === 'vault' || docPath(folder) !== folder || folder.includes('/')) {
    throw new SvcError('invalid_argument', `${folder} is no folder for documents of a plugin; name one at the top, but not vault`);
  }
  return { source: 'vault', folder, repoId: null, orgId: null, by: folder, keepVersions: 3 };
}
