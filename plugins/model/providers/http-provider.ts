import { type ConnectionOutcome, type Product, testConnection } from 'svc/connection';
import type { ModelEffort, ModelPart, ModelProvider, ProviderRequest } from 'svc/contracts/model';
import { type Clock, isSvcError, messageOf, parseForeignJson, type Settings } from 'svc/sdk';

import { anthropicMessages } from '../wire/anthropic-messages.ts';
import { bedrockConverse } from '../wire/bedrock-converse.ts';
import { chatCompletions } from '../wire/chat-completions.ts';
import { exchange, type Fetch } from '../wire/exchange.ts';
import { gemini } from '../wire/gemini.ts';
import { openaiResponses } from '../wire/openai-responses.ts';
import { type Quirks, quirksOf, thinkingRoom, type WireName } from '../wire/quirks.ts';
import { troubleOf } from '../wire/trouble.ts';
import { BrokenStream } from '../wire/broken-stream.ts';
import { Silence, type Wire, type WirePart } from '../wire/wire.ts';
import { WireNames } from '../wire/wire-names.ts';
import { authHeaders } from './auth.ts';
import { errors } from './errors.ts';
import type { ProviderPlan } from './plans.ts';

export interface ProviderPorts {
  readonly fetch: Fetch;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly background: (label: string, work: (signal: AbortSignal) => Promise<void>) => void;
  readonly told: (fields: { readonly provider: string; readonly cause: string }) => void;
}

const wires: Readonly<Record<WireName, Wire>> = {
  chat: chatCompletions,
  responses: openaiResponses,
  messages: anthropicMessages,
  gemini,
  converse: bedrockConverse,
};

/** More than any vendor sends with one turn. */
const maxKept = 1024 * 1024;
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
      context: this.#quirks(id).context,
    }));
  }

  thinkingRoom(model: string, effort: ModelEffort | undefined): number {
    return thinkingRoom(this.#quirks(model), effort);
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
    const wire = this.#listing;
    const base = url.replace(/\/+$/, '');
    const read = (_: string, json: Readonly<Record<string, unknown>> | undefined) =>
      json === undefined || wire.modelIds(json) === undefined ? undefined : {};
    const list = wire.modelsUrl(base);
    const path = wire.modelsUrl('');
    const product: Product = {
      name: `a provider of models (${this.name})`,
      questions: [{ path, headers: this.#headers(wire, list, key), read }],
    };
    return testConnection(
      { fetch, clock },
      product,
      { url: list.slice(0, -path.length), headers: { accept: 'application/json' } },
      signal,
    );
  }

  /** Drops what was learned under other settings. */
  forget(): void {
    this.#listed = undefined;
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  async *stream(request: ProviderRequest): AsyncGenerator<ModelPart> {
    const { settings, fetch } = this.#ports;
    const model = request.model.slice(this.name.length + 1);
    const key = this.#key;
    const quirks = this.#quirks(model);
    const wire = wires[quirks.wire];
    const messages = ownTurns(request);
    const ask = { ...request, messages, model, names: new WireNames(request), quirks };
    try {
      const url = wire.url(this.#baseUrl, model);
      const body = JSON.stringify(wire.body(ask));
      const idleMs = 1_000 * settings.get<number>('llm.idle_timeout_seconds');
      const pieces = exchange(fetch, {
        url,
        headers: {
          ...wire.headers,
          ...this.#auth(url, key, body),
          'x-client-request-id': request.id,
        },
        body,
        signal: request.signal,
        idleMs: Math.min(idleMs, request.patienceMs ?? idleMs),
      });
      const wait = new ContentWait(
        this.#ports.clock,
        settings.get<number>('llm.content_timeout_seconds'),
      );
      let length = 0;
      for await (const part of wire.parts(wire.events(wait.watched(pieces)), ask)) {
        length += 'delta' in part ? part.delta.length : 0;
        if (length > longestAnswer) {
          throw new BrokenStream(`the answer is longer than ${longestAnswer} characters`);
        }
        yield part.type === 'end' ? completed(part, request.model) : part;
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
      const wire = this.#listing;
      const list = wire.modelsUrl(this.#baseUrl);
      const { status, body } = await fetch(list, {
        headers: this.#headers(wire, list, this.#key),
        signal,
        maxBytes: 4 * 1024 * 1024,
      });
      if (status !== 200) {
        throw errors.http({ status });
      }
      const said = parseForeignJson(Buffer.from(body).toString('utf8'));
      const ids = wire.modelIds((said ?? {}) as Readonly<Record<string, unknown>>);
      if (ids === undefined) {
        throw errors.no_list({ provider: this.name });
      }
      const known = ids.map((id) => id.replace(/^models\//, '')).filter((id) => !noChat.test(id));
      this.#listed = known.slice(0, maxModels);
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
    const set = this.#ports.settings.get<string>(this.#setting('base_url'));
    return (set || this.#plan.baseUrl).replace(/\/+$/, '').replace(this.#plan.notInUrl ?? '', '');
  }

  /** Protocol in which the models are listed: that of a model of which nothing is known. */
  get #listing(): Wire {
    return wires[this.#quirks('').wire];
  }

  #quirks(model: string): Quirks {
    return quirksOf(this.name, model || '-', this.#ports.settings.get('llm.context_tokens'));
  }

  #headers(wire: Wire, url: string, key: string): Readonly<Record<string, string>> {
    const { accept: _, ...headers } = wire.headers as { readonly accept?: string };
    return { ...headers, ...this.#auth(url, key) };
  }

  #auth(url: string, key: string, body?: string): Readonly<Record<string, string>> {
    return authHeaders(this.#plan.auth, key, {
      method: body === undefined ? 'GET' : 'POST',
      url,
      body: body ?? '',
      at: this.#ports.clock.now(),
    });
  }

  #setting(what: 'api_key' | 'base_url'): string {
    return `llm.${this.#plan.name}_${what}`;
  }
}

/** Returns the messages without what another model wants back. */
const ownTurns = ({ messages, model }: ProviderRequest): ProviderRequest['messages'] =>
  messages.map((message) => {
    if (message.role !== 'assistant' || !message.kept || message.kept.model === model) {
      return message;
    }
    const { kept: _, ...rest } = message;
    return rest;
  });

/** Completes the end of an answer with the model; blocks beyond any size that a vendor needs are not kept. */
function completed(
  { kept, ...part }: Extract<WirePart, { type: 'end' }>,
  model: string,
): ModelPart {
  const isKept = kept !== undefined && JSON.stringify(kept).length <= maxKept;
  return { ...part, model, ...(isKept && { kept }) };
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
