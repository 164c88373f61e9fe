import type { Generated, Selectable } from 'kysely';
import type { Ceiling } from 'svc/contracts/gate';

import type { Pressed } from './press.ts';

/** Where a pack came from, so that it can be asked for again. */
export interface Origin {
  readonly kind: 'registry' | 'url' | 'git' | 'upload' | 'folder';
  /** Name of the registry, address, or path. */
  readonly from: string;
  /** The name in the registry. */
  readonly name?: string;
  readonly path?: string;
  readonly commit?: string;
}

/** All that is known of one installed version: its row of the lockfile. */
export interface Lock extends Pressed {
  readonly origin: Origin;
  /** Of the archive; a git commit and a folder have none. */
  readonly sha256: string | null;
  /** The registry whose key has signed it. */
  readonly signed_by: string | null;
  /** The key of that; what was installed by an earlier svc has none. */
  readonly signing_key?: string | null;
  readonly rights: readonly string[];
  readonly rights_hash: string | null;
}

/** What an administrator let in of a pack that does not come in by itself. */
export interface Admitted {
  readonly personas: readonly string[];
  readonly servers: readonly string[];
}

export interface MarketplaceTables {
  marketplace_registries: {
    name: string;
    address: string;
    public_key: string | null;
    content: string | null;
    etag: string | null;
    error: string | null;
    refreshed_at: number | null;
    added_by: string;
    added_at: number;
  };
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

export type RegistryRow = Selectable<MarketplaceTables['marketplace_registries']>;
export type ChangeRow = Selectable<MarketplaceTables['marketplace_changes']>;
export type HistoryRow = Selectable<MarketplaceTables['marketplace_history']>;

/** One installed pack, as it is kept. */
export interface Installed {
  readonly packId: string;
  readonly lock: Lock;
  readonly before: Lock | undefined;
  readonly ceiling: Ceiling;
  readonly admitted: Admitted;
  /** A folder of this machine that it follows. */
  readonly linked: string | undefined;
  readonly installedBy: string;
  readonly installedAt: number;
  readonly updatedAt: number;
}
