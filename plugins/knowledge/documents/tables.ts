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
    /**
     * 1 if svc wrote it from observations of devices; users with access to some devices cannot read
     * it.
     */
    of_devices: number;
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
  knowledge_care: { doc_id: number; owner: string; review_by: number | null };
  knowledge_votes: {
    doc_id: number;
    voter: string;
    helpful: number;
    version: number;
    voted_at: number;
  };
  knowledge_gaps: {
    id: Generated<number>;
    question: string;
    scope: string;
    asker: string;
    found_nothing: number;
    not_opened: number;
    last_at: number;
  };
  knowledge_identities: {
    id: Generated<number>;
    ref: string;
    name: string;
    comment: string;
    public_key: string;
    fingerprint: string;
    private_key: string;
    created_by: string;
    created_at: number;
    updated_at: number;
    last_used_at: number | null;
  };
  knowledge_host_keys: {
    identity_id: number;
    host: string;
    algorithm: string;
    key: string;
    fingerprint: string;
    pinned_at: number;
  };
  knowledge_repos: {
    id: Generated<number>;
    ref: string;
    kind: Generated<'git' | 'website'>;
    url: string;
    branch: string;
    path_prefix: string;
    mount: string;
    org_id: number | null;
    ssh_identity_id: number | null;
    username: string;
    password: string | null;
    sync_interval: number;
    status: 'never_synced' | 'syncing' | 'ready' | 'failed';
    last_synced_at: number | null;
    last_tried_at: number | null;
    last_commit: string | null;
    last_error: string | null;
    last_error_code: string | null;
    /** JSON. */
    last_result: string | null;
    failures: Generated<number>;
    due_at: number | null;
    created_by: string;
    created_at: number;
  };
}

export type DocRow = Selectable<KnowledgeTables['knowledge_docs']>;
export type GapRow = Selectable<KnowledgeTables['knowledge_gaps']>;
export type IdentityRow = Selectable<KnowledgeTables['knowledge_identities']>;
export type HostKeyRow = Selectable<KnowledgeTables['knowledge_host_keys']>;
export type RepoRow = Selectable<KnowledgeTables['knowledge_repos']>;
export type VersionRow = Selectable<KnowledgeTables['knowledge_versions']>;

/** Document with its content. */
export type WholeDoc = DocRow & { readonly content: string };

/** Change for the index: the document as it is now, or its deletion. */
export type Change = {
  readonly seq: number;
  readonly id: number;
  readonly doc: WholeDoc | undefined;
};
