import type { Selectable } from 'kysely';
import type { Enclosure } from 'svc/contracts/chat';
import type { ImEvent } from 'svc/contracts/imbridge';

export interface ImTables {
  imbridge_apps: {
    id: string;
    provider: string;
    name: string;
    app_id: string;
    app_secret: string | null;
    verify_token: string | null;
    encrypt_key: string | null;
    allow_from: string;
    default_agent: string | null;
    default_role: string;
    locale: string;
    mode: 'callback' | 'stream';
    endpoint: string;
    enabled: number;
    /** Cursor of what was read last; only for a mode that connects out. */
    cursor: string;
    created_at: number;
    updated_at: number;
  };
  /** Messages, named so before their jobs stood in imbridge_work. */
  imbridge_jobs: {
    id: string;
    app_id: string;
    event_key: string;
    kind: 'message' | 'action' | 'tell';
    conversation: string;
    /** Sender; empty for what we send unasked. */
    sender: string;
    /** Lane in which messages are processed in order. */
    lane: string;
    payload: string;
    state: MessageState;
    run_id: string;
    session_id: string | null;
    /** Our answer on the platform, as JSON. */
    sent: string | null;
    /** Answer of an executed command, which remains to be sent. */
    answer: string | null;
    /** Number of tries; like next_at and holder, from versions without jobs. */
    tries: number;
    next_at: number;
    holder: string | null;
    error: string | null;
    created_at: number;
    ended_at: number | null;
    /** Id of the message on its platform, which edits name; empty if it has none. */
    message: string;
    /** Digest of its text. */
    digest: string;
  };
  imbridge_said: {
    id: string;
    app_id: string;
    thread: string;
    owner: string;
    name: string;
    question: string;
    answer: string;
    created_at: number;
  };
  imbridge_work: { id: string };
  imbridge_threads: {
    app_id: string;
    thread: string;
    owner: string;
    session_id: string;
    updated_at: number;
  };
  imbridge_links: {
    id: string;
    app_id: string;
    sender: string;
    sender_name: string;
    user_id: number;
    created_at: number;
  };
  imbridge_codes: { digest: string; user_id: number; expires_at: number };
  imbridge_actions: { token: string; app_id: string; deed: string; expires_at: number };
  imbridge_notices: {
    app_id: string;
    conversation: string;
    incident_id: number;
    posted: string;
    message: string;
    thread: string;
    /** Last event of the incident that was reported. */
    told: number;
    /** Text besides the state of the incident, as JSON; empty for one of an earlier version. */
    body: string;
    /** State of the incident that it shows. */
    shown: string;
    created_at: number;
  };
}

/** Event as its row holds it: once its files were read, with what they say, and that some could not be. */
export interface HeldEvent extends ImEvent {
  readonly enclosures?: readonly Enclosure[];
  readonly unread?: string;
}

/** waiting: for people to decide; ignored: not for us, or not allowed; failed: the platform did not take the answer. */
export type MessageState = 'queued' | 'waiting' | 'done' | 'ignored' | 'failed';
export type AppRow = Selectable<ImTables['imbridge_apps']>;
export type MessageRow = Selectable<ImTables['imbridge_jobs']>;
export type LinkRow = Selectable<ImTables['imbridge_links']>;
export type NoticeRow = Selectable<ImTables['imbridge_notices']>;
