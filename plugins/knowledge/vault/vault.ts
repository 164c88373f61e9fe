import { route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { KeptDoc, Origin, Replaced, SourcedDocs } from '../documents/sourced-docs.ts';
import type { ShippedPlaybook } from './shipped.ts';

const origin: Origin = {
  source: 'vault',
  folder: 'vault',
  repoId: null,
  orgId: null,
  ofDevices: false,
  by: 'the vault',
  keepVersions: 10,
};
/** Max files of one transaction, so that none blocks others. */
const atOnce = 10;

/** The playbooks of the product among the documents: always those of this version, but for what people made their own. */
export class Vault {
  readonly #docs: SourcedDocs;
  readonly #shipped: () => Promise<readonly ShippedPlaybook[]>;
  #running: Promise<Replaced> | undefined;

  constructor(docs: SourcedDocs, shipped: () => Promise<readonly ShippedPlaybook[]>) {
    this.#docs = docs;
    this.#shipped = shipped;
  }

  /** One at a time: who asks meanwhile gets the answer of the one that runs. */
  sync(): Promise<Replaced> {
    this.#running ??= this.#sync().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #sync(): Promise<Replaced> {
    const [files, known] = [await this.#shipped(), await this.#docs.known(origin)];
    const changed = files.filter(({ path, digest }) => known.get(path)?.digest !== digest);
    const shipped = new Set(files.map(({ path }) => path));
    const gone = [...known.keys()].filter((path) => !shipped.has(path));
    let sum: Replaced = {
      added: 0,
      updated: 0,
      unchanged: files.length - changed.length,
      removed: 0,
      kept: [],
    };
    for (let from = 0; from === 0 || from < changed.length; from += atOnce) {
      const part = await this.#docs.replace(
        origin,
        changed.slice(from, from + atOnce).map((file) => file.read()),
        from === 0 ? gone : [],
      );
      const kept: readonly KeptDoc[] = [...sum.kept, ...part.kept];
      const { added, updated, removed } = part;
      sum = {
        ...sum,
        kept,
        added: sum.added + added,
        updated: sum.updated + updated,
        removed: sum.removed + removed,
      };
    }
    return sum;
  }
}

const Synced = Type.Object({
  added: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  removed: Type.Integer({
    description: 'Number of documents removed because this version no longer ships them',
  }),
  kept: Type.Array(Type.Object({ path: Type.String(), doc_id: Type.Integer() }), {
    description: "Users' documents that replace the ones shipped with svc",
  }),
});

export const vaultRoutes = (vault: Vault): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/knowledge/vault/sync',
    access: 'knowledge:sync',
    brief: ['added', 'updated', 'unchanged', 'removed'],
    summary: "Sync the playbooks shipped with this version; users' documents are kept",
    response: Synced,
    status: 200,
    async handle({ note }) {
      const { kept, ...counts } = await vault.sync();
      note({ resourceType: 'vault', after: { ...counts, kept: kept.length } });
      return { ...counts, kept: [...kept] };
    },
  }),
];
