import type { Approval, ApprovalBook } from 'svc/contracts/approval';
import type { CallOrigin } from 'svc/contracts/gate';
import type { MentionDirectory } from 'svc/contracts/mention';
import type { Models } from 'svc/contracts/model';
import type { KnownPersona, PersonaDirectory } from 'svc/contracts/persona';
import type { SkillRegistry, SkillRunner } from 'svc/contracts/skill';
import type { Clock, Handle, Ids, Logger, Principal } from 'svc/sdk';

import type { Coordinator } from '../prompt/coordinator.ts';
import type { SessionRow, SessionStore } from '../session/store.ts';
import type { Toolbag } from '../tools/toolbag.ts';
import type { EventLog } from './event-log.ts';
import type { Entry, RunState } from '../journal/journal.ts';
import type { RunRow, RunStore } from './run-store.ts';

/** Dependencies of the steps of a run. */
export interface RunPorts {
  readonly runs: RunStore;
  readonly sessions: SessionStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly models: Models;
  readonly personas: PersonaDirectory;
  readonly registry: SkillRegistry;
  readonly runner: SkillRunner;
  readonly approvals: Handle<ApprovalBook>;
  /** Returns whether an approved call could be made now: its device is online. */
  readonly reachable: (approval: Approval) => Promise<boolean>;
  readonly coordinator: Coordinator;
  readonly mentions: Handle<MentionDirectory>;
  readonly toolbag: Toolbag;
  /** Waits, but not for a run that is stopped or a plugin that leaves. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Asks for a flush of waiting text within 20 ms. */
  readonly flushSoon: (log: EventLog) => void;
  readonly settings: {
    readonly kernel: () => 'graph' | 'legacy';
    readonly maxTurns: () => number;
    readonly maxReplyTokens: () => number;
    readonly systemContext: () => string;
    readonly knownAddresses: () => readonly string[];
  };
}

/** Run in progress: its state, its events, and whoever needs to know that it waits. */
export interface Work {
  readonly row: RunRow;
  readonly session: SessionRow;
  readonly principal: Principal;
  readonly origin: CallOrigin;
  readonly events: EventLog;
  /** Aborted when the run is cancelled or this worker has to leave. */
  readonly signal: AbortSignal;
}

/** A run between two steps. */
export interface OpenRun {
  readonly work: Work;
  readonly state: RunState;
  /** Persona as it is now; undefined if it was deleted. */
  readonly persona: KnownPersona | undefined;
  /** Facts first, then whatever builds on them: one commit with the events that tell of them, and with what `along` writes. */
  append(entries: readonly Entry[], along?: () => Promise<void>): Promise<void>;
}
