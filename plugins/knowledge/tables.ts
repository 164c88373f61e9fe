import type { Generated, Selectable } from 'kysely';

export type Source = 'manual' | 'upload' | 'repo' | 'vault';

export interface KnowledgeTables {
  knowledge_docs: {
    id: Generated<number>;
    path: string;
    title: string;
    source: Source;
    repo_id: number | null;
    org_id: number | null;
    /** JSON. */
    tags: string;
    version: number;
    size_bytes: number;
    origin_digest: string | null;
    created_by: string;
    created_at: number;
    updated_at: number;
  };
  knowledge_versions: {
    doc_id: number;
    version: number;
    title: string;
    tags: string;
    content: string;
    size_bytes: number;
    changed_by: string;
    changed_at: number;
  };
  knowledge_changes: { seq: Generated<number>; doc_id: number; removed: number };
  knowledge_state: { key: string; value: string };
}

export type DocRow = Selectable<KnowledgeTables['knowledge_docs']>;
export type VersionRow = Selectable<KnowledgeTables['knowledge_versions']>;

/** A document with what it says. */
export type WholeDoc = DocRow & { readonly content: string };

/** A change as the index takes it: the document as it is now, or that it is gone. */
export type Change = { readonly seq: number; readonly id: number; readonly doc: WholeDoc | undefined };
