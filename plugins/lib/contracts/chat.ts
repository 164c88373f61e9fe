import { defineEvent, defineService, type Principal } from 'svc/sdk';

import type { CallOrigin } from './gate.ts';

export interface RunAsk {
  readonly principal: Principal;
  readonly session_id: string;
  readonly content: string;
  /** Persona by name; absent: the coordinator chooses. */
  readonly agent?: string | undefined;
  /** Spawn context, filled into the persona's `initial_prompt`. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly origin: CallOrigin;
  /** Chosen by who asks and never used for another run: asked again with the same one, it is the same run. */
  readonly run_id?: string | undefined;
}

/** One event of a run's stored log, in the vocabulary of UI message streams; `seq` begins at 1. */
export interface RunEvent {
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface RunEnd {
  readonly run_id: string;
  readonly finish_reason: string;
  readonly text: string;
  /** Of approvals that the run waits for. */
  readonly approvals: readonly string[];
}

/** Runs of agents, for rooms that bring people's words from elsewhere: chat platforms, investigations. */
export interface ChatRuns {
  openSession(
    principal: Principal,
    ask: {
      readonly title?: string;
      readonly agent?: string;
      readonly related_incident_id?: number;
    },
  ): Promise<string>;
  /** Resolves once the run is on disk; it goes on by itself. */
  start(ask: RunAsk): Promise<{ readonly run_id: string }>;
  /** From memory or disk, until the run has ended or waits for an approval. */
  follow(principal: Principal, run_id: string, afterSeq?: number): AsyncIterable<RunEvent>;
  /** Resolves when the run has ended or waits. */
  settled(principal: Principal, run_id: string, signal?: AbortSignal): Promise<RunEnd>;
  cancel(principal: Principal, run_id: string): Promise<void>;
}

export const ChatRuns = defineService<ChatRuns>('chat.runs');

/** A worker that has to leave has let go of a run that is not over. */
export const RunLeft = defineEvent<{ readonly run_id: string }>('chat.run-left');
