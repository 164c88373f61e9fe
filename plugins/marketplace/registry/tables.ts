import type { Selectable } from 'kysely';

export interface RegistryTables {
  marketplace_registries: {
    name: string;
    address: string;
    public_key: string | null;
    content: string | null;
    /** Hashes of archives by pack and version, of every list that was read, as JSON. */
    known: string | null;
    etag: string | null;
    error: string | null;
    refreshed_at: number | null;
    added_by: string;
    added_at: number;
  };
}

export type RegistryRow = Selectable<RegistryTables['marketplace_registries']>;
