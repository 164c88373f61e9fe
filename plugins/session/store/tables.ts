import type { Generated } from 'kysely';

export interface SessionRow {
  readonly id: string;
  readonly user_id: number;
  readonly version: number;
  readonly ip: string;
  readonly user_agent: string;
  readonly created_at: number;
  readonly refreshed_at: number;
  readonly last_used_at: number;
  readonly ended_at: number | null;
}

export interface ApiTokenRow {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  readonly hash: string;
  /** JSON array. */
  readonly actions: string;
  /** Version of the account when the token was made. */
  readonly version: number;
  readonly created_at: number;
  readonly expires_at: number;
  readonly last_used_at: number | null;
}

/** Session of a presented refresh token. */
export interface ShownSession {
  readonly session_id: string;
  readonly user_id: number;
  readonly version: number;
  readonly created_at: number;
  readonly ended_at: number | null;
}

/** Stored refresh token, with its session. */
export interface ShownToken extends ShownSession {
  readonly id: number;
  readonly issued_at: number;
  readonly spent_at: number | null;
  readonly spent_by: string | null;
}

export interface SessionTables {
  session_keys: { kid: string; sealed: string; created_at: number };
  session_sessions: Omit<SessionRow, 'ended_at'> & {
    ended_at: Generated<number | null>;
    family: Generated<string | null>;
  };
  session_refresh_tokens: {
    id: Generated<number>;
    session_id: string;
    parent_id: number | null;
    hash: string;
    issued_at: number;
    spent_at: Generated<number | null>;
    spent_by: Generated<string | null>;
  };
  session_api_tokens: Omit<ApiTokenRow, 'id' | 'last_used_at'> & {
    id: Generated<number>;
    last_used_at: Generated<number | null>;
  };
  session_setup: { id: number; hash: string; expires_at: number };
}
