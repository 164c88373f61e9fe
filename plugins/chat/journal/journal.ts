import type { ModelUsage } from 'svc/contracts/model';
import type { Evidence } from 'svc/contracts/skill';
import type { SkillClass } from 'svc/sdk';

/** Call as the model wrote it, with an id of ours. */
export interface PlannedCall {
  readonly id: string;
  /** Name as the model wrote it. */
  readonly name: string;
  /** Key of the tool; the name if there is none. */
  readonly tool: string;
  /** Arguments; undefined if the text is not a JSON object. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
}

export type CallStatus = 'ok' | 'error' | 'timeout' | 'refused' | 'denied' | 'unknown';

export interface CallOutcome {
  readonly status: CallStatus;
  /** Text as the model gets it. */
  readonly text: string;
  readonly trust: 'trusted' | 'untrusted';
  readonly evidence: Evidence | undefined;
  readonly duration_ms: number;
}

/** Context that a run inherits from the run that requested it. */
export interface Within {
  readonly run: string;
  readonly agent: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly tainted: boolean;
  /** Tools that are denied to who asked. */
  readonly denied: readonly string[];
  /** Tools that who asked has; empty, or absent in older rows: all. */
  readonly allowed?: readonly string[];
  readonly evidence: readonly string[];
  /** Max tokens of both together. */
  readonly token_limit?: number | undefined;
}

/** One row of a run's journal: a fact, written before anything is done that builds on it. */
export type Entry =
  | {
      readonly kind: 'asked';
      readonly content: string;
      readonly agent: string | undefined;
      readonly context: Readonly<Record<string, unknown>>;
      /** Text that goes with the message; absent if nothing does. */
      readonly enclosed?: string;
      /** Context of a run requested by another agent. */
      readonly within?: Within;
      /** Max tokens, if less than the settings allow. */
      readonly token_limit?: number | undefined;
    }
  | {
      readonly kind: 'routed';
      readonly agent: string;
      readonly version: number;
      readonly why: string;
      /** Message as the model reads it: with the persona's opening and resolved mentions. */
      readonly prompt: string;
      readonly kernel: 'graph' | 'legacy';
      readonly max_turns: number;
      /** True if the message contains text from outside. */
      readonly tainted: boolean;
      /** Evidence of earlier runs of the session. */
      readonly evidence: readonly string[];
    }
  | {
      readonly kind: 'answered';
      readonly text: string;
      readonly calls: readonly PlannedCall[];
      readonly finish: string;
      readonly usage: ModelUsage;
      readonly model: string;
      /** Blocks that the provider wants back with this turn; absent in older rows. */
      readonly kept?: readonly unknown[] | undefined;
    }
  | {
      readonly kind: 'waiting';
      readonly call: string;
      readonly approval: string;
      readonly class: SkillClass;
    }
  | { readonly kind: 'started'; readonly call: string; readonly class: SkillClass }
  | ({ readonly kind: 'finished'; readonly call: string } & CallOutcome)
  /** A word of the kernel to the model. */
  | {
      readonly kind: 'noted';
      readonly about: 'continue' | 'empty' | 'citations';
      readonly text: string;
    }
  | { readonly kind: 'ended'; readonly finish: RunFinish; readonly error: string | undefined };

export type RunFinish = 'stop' | 'length' | 'error' | 'cancelled' | 'budget';

export interface Call extends PlannedCall {
  readonly state: 'planned' | 'waiting' | 'started' | 'finished';
  readonly class: SkillClass | undefined;
  readonly approval: string | undefined;
  readonly outcome: CallOutcome | undefined;
}

export interface Turn {
  readonly text: string;
  readonly finish: string;
  readonly usage: ModelUsage;
  readonly model: string;
  readonly kept?: readonly unknown[] | undefined;
  readonly calls: readonly Call[];
  /** Notes for the model after this turn. */
  readonly notes: readonly Extract<Entry, { kind: 'noted' }>[];
}

/** A run at one moment. */
export interface RunState {
  readonly asked: Extract<Entry, { kind: 'asked' }>;
  readonly routed: Extract<Entry, { kind: 'routed' }> | undefined;
  readonly turns: readonly Turn[];
  readonly ended: Extract<Entry, { kind: 'ended' }> | undefined;
}

/** The state after one more row. */
export function apply(state: RunState | undefined, entry: Entry): RunState {
  if (entry.kind === 'asked') {
    return { asked: entry, routed: undefined, turns: [], ended: undefined };
  }
  if (state === undefined) {
    throw new Error(`a journal begins with "asked", not with "${entry.kind}"`);
  }
  switch (entry.kind) {
    case 'routed':
      return { ...state, routed: entry };
    case 'answered': {
      const { text, finish, usage, model, kept } = entry;
      const calls = entry.calls.map((call) => ({
        ...call,
        state: 'planned' as const,
        class: undefined,
        approval: undefined,
        outcome: undefined,
      }));
      return {
        ...state,
        turns: [...state.turns, { text, finish, usage, model, kept, calls, notes: [] }],
      };
    }
    case 'waiting':
      return withCall(state, entry.call, (call) => ({
        ...call,
        state: 'waiting',
        approval: entry.approval,
        class: entry.class,
      }));
    case 'started':
      return withCall(state, entry.call, (call) => ({
        ...call,
        state: 'started',
        class: entry.class,
      }));
    case 'finished': {
      const { kind: _kind, call: _call, ...outcome } = entry;
      return withCall(state, entry.call, (call) => ({ ...call, state: 'finished', outcome }));
    }
    case 'noted':
      return withLastTurn(state, (turn) => ({ ...turn, notes: [...turn.notes, entry] }));
    case 'ended':
      return { ...state, ended: entry };
  }
}

export const replay = (entries: readonly Entry[]): RunState =>
  entries.reduce<RunState | undefined>(apply, undefined)!;

/** Returns whether the model has read text from outside. */
export const isTainted = ({ routed, turns }: RunState): boolean =>
  routed?.tainted === true ||
  turns.some(({ calls }) => calls.some(({ outcome }) => outcome?.trust === 'untrusted'));

function withLastTurn(state: RunState, change: (turn: Turn) => Turn): RunState {
  return {
    ...state,
    turns: state.turns.map((turn, at) => (at === state.turns.length - 1 ? change(turn) : turn)),
  };
}

const withCall = (state: RunState, id: string, change: (call: Call) => Call): RunState =>
  withLastTurn(state, (turn) => ({
    ...turn,
    calls: turn.calls.map((call) => (call.id === id ? change(call) : call)),
  }));
