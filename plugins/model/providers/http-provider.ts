import { type ConnectionOutcome, type Product, testConnection } from 'svc/connection';
import type { ModelPart, ModelProvider, ProviderRequest } from 'svc/contracts/model';
import { type Clock, isSvcError, messageOf, parseForeignJson, type Settings } from 'svc/sdk';

import { anthropicMessages } from '../wire/anthropic-messages.ts';
import { chatCompletions } from '../wire/chat-completions.ts';
import { exchange, type Fetch } from '../wire/exchange.ts';
import { quirksOf } from '../wire/quirks.ts';
import { sseEvents } from '../wire/sse.ts';
import { troubleOf } from '../wire/trouble.ts';
import { BrokenStream } from '../wire/broken-stream.ts';
import { Silence, type Wire } from '../wire/wire.ts';
import { WireNames } from '../wire/wire-names.ts';
import { errors } from './errors.ts';

export interface ProviderPlan {
  readonly name: string;
  readonly wire: Wire;
  /** Empty: it is nowhere until the settings say where. */
  readonly baseUrl: string;
  readonly needsKey: boolean;
  /** Models shown until the provider itself has listed its own; the first one is the default. */
  readonly models: readonly string[];
}

export interface ProviderPorts {
  readonly fetch: Fetch;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly background: (label: string, work: (signal: AbortSignal) => Promise<void>) => void;
  readonly told: (fields: { readonly provider: string; readonly cause: string }) => void;
}

const askAgainMs = 10 * 60_000;
const maxModels = 500;
/** Tens of times what any model can write at once. */
const longestAnswer = 4 * 1024 * 1024;
const noChat =
  /embed|whisper|tts|audio|image|dall-e|moderation|realtime|transcribe|babbage|davinci|rerank|aqa|veo|imagen/i;

/** Provider: one vendor, or one address, behind a protocol that this plugin supports. */
export class HttpProvider implements ModelProvider {
  readonly #plan: ProviderPlan;
  readonly #ports: ProviderPorts;
  #listed: readonly string[] | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(plan: ProviderPlan, ports: ProviderPorts) {
    this.#plan = plan;
    this.#ports = ports;
  }

  get name(): string {
    return this.#plan.name;
  }

  configured(): boolean {
    return this.#baseUrl !== '' && (!this.#plan.needsKey || this.#key !== '');
  }

  models(): readonly {
    readonly id: string;
    readonly context: number;
    readonly tools: boolean;
    readonly streaming: boolean;
  }[] {
    const { clock, settings, background } = this.#ports;
    if (this.configured() && clock.monotonic() - this.#askedAt > askAgainMs) {
      this.#askedAt = clock.monotonic();
      background(`list the models of ${this.name}`, (signal) => this.#ask(signal));
    }
    const prefix = `${this.name}/`;
    const named = [
      settings.get<string>('llm.default_model'),
      ...settings.get<readonly string[]>('llm.models'),
    ];
    const own = named.filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length));
    return [...new Set([...own, ...(this.#listed ?? this.#plan.models)])].map((id) => ({
      id,
      tools: true,
      streaming: true,
      context: quirksOf(this.name, id, settings.get('llm.context_tokens')).context,
    }));
  }

  /** Asks for the list of models, which costs nothing: at what is set, or at another address with a key of its own. */
  test(
    trial: { readonly url: string; readonly key: string } | undefined,
    signal: AbortSignal,
  ): Promise<ConnectionOutcome> {
    const { fetch, clock } = this.#ports;
    const { url, key } = trial ?? { url: this.#baseUrl, key: this.#key };
    if (url === '' || (trial === undefined && !this.configured())) {
      const setting = this.#setting(url === '' ? 'base_url' : 'api_key');
      return Promise.resolve({
        ok: false,
        code: 'not_configured',
        latency_ms: 0,
        detail: `${setting} is empty: set it, or pass an address to test`,
      });
    }
    const { wire } = this.#plan;
    const read = (_: string, json: Readonly<Record<string, unknown>> | undefined) =>
      Array.isArray(json?.['data']) || json?.['object'] === 'list' ? {} : undefined;
    const product: Product = {
      name: `a provider of models (${this.name})`,
      questions: [{ path: wire.modelsUrl(''), headers: wire.headers(key), read }],
    };
    return testConnection(
      { fetch, clock },
      product,
      { url: url.replace(/\/+$/, ''), headers: { accept: 'application/json' } },
      signal,
    );
  }

  /** Drops what was learned under other settings. */
  forget(): void {
    this.#listed = undefined;
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  async *stream(request: ProviderRequest): AsyncGenerator<ModelPart> {
    const { wire } = this.#plan;
    const { settings, fetch } = this.#ports;
    const model = request.model.slice(this.name.length + 1);
    const key = this.#key;
    const ask = {
      ...request,
      model,
      names: new WireNames(request),
      quirks: quirksOf(this.name, model, settings.get('llm.context_tokens')),
    };
    try {
      const pieces = exchange(fetch, {
        url: wire.url(this.#baseUrl),
        headers: { ...wire.headers(key), 'x-client-request-id': request.id },
        body: wire.body(ask),
        signal: request.signal,
        idleMs: 1_000 * settings.get<number>('llm.idle_timeout_seconds'),
      });
      const wait = new ContentWait(
        this.#ports.clock,
        settings.get<number>('llm.content_timeout_seconds'),
      );
      let length = 0;
      for await (const part of wire.parts(sseEvents(wait.watched(pieces)), ask)) {
        length += 'delta' in part ? part.delta.length : 0;
        if (length > longestAnswer) {
          throw new BrokenStream(`the answer is longer than ${longestAnswer} characters`);
        }
        yield part.type === 'end' ? { ...part, model: request.model } : part;
        wait.heard();
      }
    } catch (error) {
      throw troubleOf(error, {
        provider: this.name,
        model,
        key,
        keySetting: this.#setting('api_key'),
        urlSetting: this.#setting('base_url'),
      });
    }
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { fetch, told } = this.#ports;
    try {
      const { status, body } = await fetch(this.#plan.wire.modelsUrl(this.#baseUrl), {
        headers: this.#plan.wire.headers(this.#key),
        signal,
        maxBytes: 4 * 1024 * 1024,
      });
      if (status !== 200) {
        throw errors.http({ status });
      }
      const { data } = parseForeignJson(Buffer.from(body).toString('utf8')) as {
        data: readonly { id: string }[];
      };
      const ids = data
        .map(({ id }) => id.replace(/^models\//, ''))
        .filter((id) => !noChat.test(id));
      this.#listed = ids.slice(0, maxModels);
    } catch (error) {
      if (!signal.aborted) {
        told({
          provider: this.name,
          cause: isSvcError(error)
            ? error.message
            : `its list could not be read (${messageOf(error)})`,
        });
      }
    }
  }

  get #key(): string {
    return this.#ports.settings.get<string>(this.#setting('api_key'));
  }

  get #baseUrl(): string {
    return (
      this.#ports.settings.get<string>(this.#setting('base_url')) || this.#plan.baseUrl
    ).replace(/\/+$/, '');
  }

  #setting(what: 'api_key' | 'base_url'): string {
    return `llm.${this.#plan.name}_${what}`;
  }
}

/** Ends an answer whose bytes go on without content. It looks as they come: without any, the deadline of silence holds. */
class ContentWait {
  readonly #clock: Clock;
  readonly #seconds: number;
  #since: number;

  constructor(clock: Clock, seconds: number) {
    this.#clock = clock;
    this.#seconds = seconds;
    this.#since = clock.monotonic();
  }

  /** Restarts the idle timer, since the reader's delay is not the provider's. */
  heard(): void {
    this.#since = this.#clock.monotonic();
  }

  async *watched(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      yield piece;
      if (this.#clock.monotonic() - this.#since > this.#seconds * 1_000) {
        throw new Silence(this.#seconds);
      }
    }
  }
}

/**
 * Providers that svc knows, and two that run wherever the administrator has them; in the order of
 * choosing the default.
 */
export const shippedProviders: readonly ProviderPlan[] = [
  {
    name: 'anthropic',
    wire: anthropicMessages,
    baseUrl: 'https://api.anthropic.com/v1',
    needsKey: true,
    models: ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-5'],
  },
  {
    name: 'openai',
    wire: chatCompletions,
    baseUrl: 'https://api.openai.com/v1',
    needsKey: true,
    models: ['gpt-5.1', 'gpt-5-mini', 'gpt-4.1'],
  },
  {
    name: 'google',
    wire: chatCompletions,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    needsKey: true,
    models: ['gemini-2.5-pro', 'gemini-2.5-flash'],
  },
  {
    name: 'deepseek',
    wire: chatCompletions,
    baseUrl: 'https://api.deepseek.com/v1',
    needsKey: true,
    models: ['deepseek-chat', 'deepseek-reasoner'],
  },
  { name: 'ollama', wire: chatCompletions, baseUrl: '', needsKey: false, models: [] },
  { name: 'compatible', wire: chatCompletions, baseUrl: '', needsKey: false, models: [] },
];
