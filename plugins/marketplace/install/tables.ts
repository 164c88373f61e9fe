import type { Generated, Selectable } from 'kysely';

export interface PackTables {
  marketplace_packs: {
    pack_id: string;
    lock: string;
    before: string | null;
    ceiling: string;
    admitted: string;
    linked: string | null;
    installed_by: string;
    installed_at: number;
    updated_at: number;
  };
  marketplace_changes: {
    pack_id: string;
    step: 'switching' | 'cleaning';
    token: string;
    before_hash: string | null;
    keep_data: number;
    personas: Generated<string>;
    tools: Generated<string>;
  };
  marketplace_history: {
    id: Generated<number>;
    pack_id: string;
    action: string;
    version: string;
    content_hash: string;
    sha256: string | null;
    verdict: string;
    reason: string | null;
    done_by: string;
    done_at: number;
  };
}

export type ChangeRow = Selectable<PackTables['marketplace_changes']>;
export type HistoryRow = Selectable<PackTables['marketplace_history']>;
