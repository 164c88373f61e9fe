import { defineExtensionPoint, defineService } from 'svc/sdk';

export type ModelMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls: readonly ModelToolCall[];
      readonly kept?: KeptTurn | undefined;
    }
  /** Every call of an assistant message is followed by its result, in the order of the calls, before anything else. */
  | {
      readonly role: 'tool';
      readonly call_id: string;
      readonly name: string;
      readonly text: string;
      readonly failed: boolean;
    };

/**
 * Form in which a provider sent a turn: thoughts with their signatures, encrypted reasoning.
 * Returned verbatim to the model that made it, never to another one.
 */
export interface KeptTurn {
  /** `<provider>/<model>` that made it. */
  readonly model: string;
  /** Blocks of the provider's protocol; its calls are references to those of the message. */
  readonly blocks: readonly unknown[];
}

/** Amount of thinking that is wanted of a model; absent: as its vendor has it. */
export type ModelEffort = (typeof modelEfforts)[number];
export const modelEfforts = ['none', 'low', 'medium', 'high', 'max'] as const;

export interface ModelToolCall {
  /** Ours, never the provider's: minted by who reads the stream. */
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  /** `<provider>/<model>`; empty: the default of the settings. */
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  /**
   * Text for this turn alone, such as the time: placed after everything else, so that all before it
   * is the same in the next turn and can be served from a cache.
   */
  readonly tail?: string | undefined;
  readonly tools: readonly ModelTool[];
  /** False in the last turn of a run: the tools stay, for the cache, but the model has to answer. */
  readonly mayCall?: boolean | undefined;
  /** Max tokens of the answer; a model that thinks gets room for that in addition. */
  readonly maxTokens: number;
  readonly effort?: ModelEffort | undefined;
  /** Form of the answer, for providers that enforce one; not together with tools. */
  readonly format?: ModelFormat | undefined;
  readonly temperature?: number;
  /** Budgets that it is charged to, besides the day's. */
  readonly budget: {
    readonly run: string;
    readonly session: string;
    readonly persona: string;
    /** Max tokens of the run, if less than the settings allow. */
    readonly limit?: number | undefined;
  };
  readonly signal: AbortSignal;
}

export interface ModelFormat {
  /** Letters, digits and underscores. */
  readonly name: string;
  /** JSON schema of an object; all its properties are required, and no other is allowed. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export type ModelPart =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'call-start'; readonly index: number; readonly name: string }
  | { readonly type: 'call-delta'; readonly index: number; readonly delta: string }
  /** Complete; `args` is undefined when the model wrote no JSON object, and `text` is what it wrote. */
  | {
      readonly type: 'call';
      readonly index: number;
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>> | undefined;
      readonly text: string;
    }
  | {
      readonly type: 'end';
      readonly finish: 'stop' | 'tool-calls' | 'length' | 'filtered' | 'other';
      readonly usage: ModelUsage;
      /** `<provider>/<model>` that answered. */
      readonly model: string;
      /** Blocks of a `KeptTurn`; absent if the provider wants nothing back. */
      readonly kept?: readonly unknown[] | undefined;
    };

export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  /** The provider said nothing: counted by us. */
  readonly estimated: boolean;
}

export interface Models {
  /**
   * Calls a model. Reserves in every budget before the first byte is sent and settles after the
   * last; throws `budget_exceeded` before anything is sent, `conflict` (reason `model.none`) if
   * none is configured, `upstream_error` if the provider fails for good. A truncated answer is
   * charged for the part received.
   */
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
  /**
   * Returns whether a model id, or the default one for an empty text, can be used now; the reason
   * if it cannot.
   */
  usable(
    model: string,
    effort?: ModelEffort,
  ):
    | {
        readonly ok: true;
        readonly model: string;
        readonly context: number;
        /** Tokens of the context that its thinking may take. */
        readonly thinking?: number;
      }
    | { readonly ok: false; readonly message: string };
}

/** Budgets are settled by then. */
export interface ProviderRequest extends Omit<ModelRequest, 'budget'> {
  /** Id of this request, sent along where possible, so that bills can be compared. */
  readonly id: string;
  /** Includes the room for thoughts. */
  readonly maxTokens: number;
  /** Max silence, if less than the settings allow. */
  readonly patienceMs?: number | undefined;
}

/** A vendor or a protocol; packs may bring others. */
export interface ModelProvider {
  readonly name: string;
  /** Returns whether it has what it needs, such as a key. */
  configured(): boolean;
  /** Returns the models from memory; they are fetched in the background. */
  models(): readonly {
    readonly id: string;
    readonly context: number;
    readonly tools: boolean;
    readonly streaming: boolean;
  }[];
  /** Returns the tokens that a model may think in addition to its answer; absent: none. */
  thinkingRoom?(model: string, effort: ModelEffort | undefined): number;
  /** One request, no retries: parts as they come, or an SvcError; `upstream_error` with `retryAfterSeconds` may be tried again. */
  stream(request: ProviderRequest): AsyncIterable<ModelPart>;
}

export const ModelRuns = defineService<Models>('model.stream');
export const ModelProviders = defineExtensionPoint<ModelProvider>('model.provider', undefined, {
  methods: ['configured', 'models', 'stream'],
});
