import type { Generated, Selectable } from 'kysely';
import type { Tables } from 'svc/sdk';

import type { Severity } from '../notify/contract.ts';

export interface SourceTables {
  alert_sources_peers: {
    id: Generated<number>;
    key: string;
    token_digest: string;
    signing_secret: string | null;
    dimensions: string;
    default_severity: Severity;
    unheard_ms: number;
    enabled: number;
    created_at: number;
    updated_at: number;
  };
}

export type SourceRow = Selectable<SourceTables['alert_sources_peers']>;
export type SourceDb = Tables<SourceTables>['read'];
