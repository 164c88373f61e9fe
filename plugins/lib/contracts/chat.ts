import { defineEvent, defineService, type Principal } from 'svc/sdk';

import type { CallOrigin } from './gate.ts';

/** Text that goes with a message and that its sender need not have written: a file, a conversation. */
export interface Enclosure {
  readonly title: string;
  readonly text: string;
}

export interface RunAsk {
  readonly principal: Principal;
  readonly session_id: string;
  readonly content: string;
  /** Read by the agent as data. They have no say in which agent answers, and mentions in them are none. */
  readonly enclosures?: readonly Enclosure[] | undefined;
  /** Persona by name; absent: the coordinator chooses. */
  readonly agent?: string | undefined;
  /** Spawn context, filled into the persona's `initial_prompt`. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly origin: CallOrigin;
  /** Chosen by who asks and never used for another run: asked again with the same one, it is the same run. */
  readonly run_id?: string | undefined;
  /** Max tokens of the run and of the agents that it asks, if less than the settings allow. */
  readonly token_limit?: number | undefined;
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
  /** Persona that answers; undefined until one is chosen. */
  readonly agent?: string | undefined;
  /** Cause, if the run ended with an error. */
  readonly error?: string | undefined;
  /** Tokens used so far, with those of the agents that it asked. */
  readonly usage: RunUsage;
  /** Approvals that the run waits for. */
  readonly approvals: readonly string[];
}

export interface RunUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  /** Input tokens that the provider served from its cache. */
  readonly cached_tokens: number;
  /** Model turns. */
  readonly requests: number;
}

/**
 * Runs of agents, for plugins that bring messages from elsewhere: chat platforms, schedules.
 */
export interface ChatRuns {
  openSession(
    principal: Principal,
    ask: {
      /** Chosen by who asks, as a run's is: opened again with the same one, it is the same session. */
      readonly id?: string;
      readonly title?: string;
      readonly tags?: readonly string[];
      readonly agent?: string;
      readonly related_incident_id?: number;
    },
  ): Promise<string>;
  /** Starts a run and resolves once it is on disk; it continues in the background. */
  start(ask: RunAsk): Promise<{ readonly run_id: string }>;
  /** Yields events from memory or disk until the run has ended or waits for an approval. */
  follow(principal: Principal, run_id: string, afterSeq?: number): AsyncIterable<RunEvent>;
  /** Resolves when the run has ended or waits. */
  settled(principal: Principal, run_id: string, signal?: AbortSignal): Promise<RunEnd>;
  cancel(principal: Principal, run_id: string): Promise<void>;
}

export const ChatRuns = defineService<ChatRuns>('chat.runs');

/** Fired when a worker that shuts down has released an unfinished run. */
export const RunLeft = defineEvent<{ readonly run_id: string }>('chat.run-left');
