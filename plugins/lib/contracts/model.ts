import { defineExtensionPoint, defineService } from 'svc/sdk';

export type ModelMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelToolCall[] }
  /** Every call of an assistant message is followed by its result, in the order of the calls, before anything else. */
  | {
      readonly role: 'tool';
      readonly call_id: string;
      readonly name: string;
      readonly text: string;
      readonly failed: boolean;
    };

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
  /** Empty in the last turn of a run: then the model has to answer. */
  readonly tools: readonly ModelTool[];
  readonly maxTokens: number;
  readonly temperature?: number;
  /** Budgets that it is charged to, besides the day's. */
  readonly budget: { readonly run: string; readonly session: string; readonly persona: string };
  readonly signal: AbortSignal;
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
  ):
    | { readonly ok: true; readonly model: string; readonly context: number }
    | { readonly ok: false; readonly message: string };
}

/** Budgets are settled by then. */
export interface ProviderRequest extends Omit<ModelRequest, 'budget'> {
  /** Id of this request, sent along where possible, so that bills can be compared. */
  readonly id: string;
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
  /** One request, no retries: parts as they come, or an SvcError; `upstream_error` with `retryAfterSeconds` may be tried again. */
  stream(request: ProviderRequest): AsyncIterable<ModelPart>;
}

export const ModelRuns = defineService<Models>('model.stream');
export const ModelProviders = defineExtensionPoint<ModelProvider>('model.provider', undefined, {
  methods: ['configured', 'models', 'stream'],
});
