import {
  type ConnectionOutcome,
  type ConnectionParts,
  failureOf,
  hostOf,
  testConnection,
} from 'svc/connection';
import { stepwise } from 'svc/flow';
import {
  isSvcError,
  type OutboundReply,
  type OutboundRequest,
  type Settings,
  SvcError,
} from 'svc/sdk';

import { errors } from './errors.ts';
import { type PageText, readPage, readPlain } from './page-text.ts';
import {
  type Found,
  foundIn,
  productOf,
  type providers as known,
  type SearchProvider,
} from './providers.ts';

export interface PageRead {
  readonly url: string;
  readonly title: string;
  readonly text: string;
  /** Position to continue at; null at the end. */
  readonly next_offset: number | null;
}

export interface SearchParts extends ConnectionParts {
  readonly settings: Pick<Settings, 'get'>;
  readonly providers: typeof known;
}

const rememberedMs = 3_600_000;
const maxRemembered = 5_000;
const searchMs = 15_000;
const pageMs = 20_000;
const maxPageBytes = 2 * 1024 * 1024;
/** Max characters of a page in one answer, so that a tool's result is not truncated. */
const maxCharacters = 6_000;
const readable = /^(?:text\/|application\/(?:xhtml\+xml|json|xml|[\w.-]+\+(?:json|xml)))/i;

/** Searches by the provider that is set, and reads what was found. */
export class Searches {
  readonly #parts: SearchParts;
  /** `<person> <address>` to when it was found, oldest first. */
  readonly #found = new Map<string, number>();

  constructor(parts: SearchParts) {
    this.#parts = parts;
  }

  /** Provider; undefined if none is set. */
  get provider(): (SearchProvider & { readonly id: string }) | undefined {
    const id = this.#parts.settings.get<'none' | keyof typeof known>('websearch.provider');
    return id === 'none' ? undefined : { ...this.#parts.providers[id], id };
  }

  async search(
    person: string,
    query: string,
    count: number,
    signal: AbortSignal,
  ): Promise<{ readonly provider: string; readonly results: readonly Found[] }> {
    const provider = this.provider;
    if (provider === undefined) {
      throw errors.none();
    }
    const { url, key } = this.#address(provider);
    const missing =
      url === ''
        ? 'websearch.url'
        : provider.needsKey && key === ''
          ? 'websearch.api_key'
          : undefined;
    if (missing !== undefined) {
      throw errors.not_configured({ missing, title: provider.title });
    }
    const { path, ...request } = provider.request(key, query, count);
    const reply = await this.#fetch(
      `${url}${path}`,
      { ...request, timeoutMs: searchMs, signal },
      provider.title,
    );
    const text = Buffer.from(reply.body).toString('utf8');
    const results = reply.status === 200 ? foundIn(provider, text, count) : undefined;
    if (results === undefined) {
      const why =
        provider.refusal?.(reply.status, text) ??
        (reply.status === 200 ? 'its answer has an unknown format' : `it answered ${reply.status}`);
      throw new SvcError(
        reply.status === 429 ? 'rate_limited' : 'upstream_error',
        `${provider.title} did not search: ${why}`,
        { reason: 'websearch.refused' },
      );
    }
    results.forEach((found) => this.#remember(person, found.url));
    return { provider: provider.id, results };
  }

  /** Text of a page that a search has found for this person. */
  async read(person: string, url: string, offset: number, signal: AbortSignal): Promise<PageRead> {
    const at = this.#found.get(`${person} ${url}`);
    if (at === undefined || at < this.#parts.clock.monotonic() - rememberedMs) {
      throw errors.not_found_before();
    }
    const headers = { accept: 'text/html, text/plain;q=0.9, application/json;q=0.5' };
    const reply = await this.#fetch(
      url,
      { headers, redirects: 3, timeoutMs: pageMs, maxBytes: maxPageBytes, signal },
      'the page',
    );
    const type = reply.headers['content-type'] ?? 'text/html';
    if (reply.status !== 200 || !readable.test(type)) {
      const why =
        reply.status === 200
          ? `it is not text (${type.slice(0, 60)})`
          : `${hostOf(url)} answered ${reply.status}`;
      throw errors.page({ why });
    }
    const page = await stepwise(textOf(reply, type));
    const end = offset + maxCharacters;
    return {
      url: reply.url,
      title: page.title,
      text: page.text.slice(offset, end),
      next_offset: end < page.text.length ? end : null,
    };
  }

  /** The provider that is set, or another one with a key of its own. */
  test(
    trial:
      | { readonly provider: SearchProvider; readonly url: string; readonly key: string }
      | undefined,
    signal: AbortSignal,
  ): Promise<ConnectionOutcome> {
    const provider = trial?.provider ?? this.provider;
    const unset = (setting: string): Promise<ConnectionOutcome> =>
      Promise.resolve({
        ok: false,
        code: 'not_configured',
        latency_ms: 0,
        detail: `${setting} is not set: set it, or pass a provider to test`,
      });
    if (provider === undefined) {
      return unset('websearch.provider');
    }
    const { url, key } =
      trial === undefined
        ? this.#address(provider)
        : { url: trial.url || provider.url, key: trial.key };
    if (url === '' || (provider.needsKey && key === '')) {
      return unset(url === '' ? 'websearch.url' : 'websearch.api_key');
    }
    return testConnection(
      this.#parts,
      productOf(provider, key),
      { url: url.replace(/\/+$/, ''), headers: { accept: 'application/json' } },
      signal,
    );
  }

  #address(provider: SearchProvider): { readonly url: string; readonly key: string } {
    const { settings } = this.#parts;
    return {
      url: (settings.get<string>('websearch.url') || provider.url).replace(/\/+$/, ''),
      key: settings.get<string>('websearch.api_key'),
    };
  }

  #remember(person: string, url: string): void {
    const entry = `${person} ${url}`;
    this.#found.delete(entry);
    this.#found.set(entry, this.#parts.clock.monotonic());
    if (this.#found.size > maxRemembered) {
      this.#found.delete(this.#found.keys().next().value!);
    }
  }

  async #fetch(url: string, request: OutboundRequest, name: string): Promise<OutboundReply> {
    try {
      return await this.#parts.fetch(url, request);
    } catch (error) {
      if (request.signal?.aborted || !isSvcError(error)) {
        throw error;
      }
      throw new SvcError('upstream_error', failureOf(error, { url }, { name }).detail, {
        reason: 'websearch.unreachable',
        cause: error,
      });
    }
  }
}

/** Reads a page in steps: it is as large as its sender likes. */
function textOf({ body }: OutboundReply, type: string): Generator<void, PageText> {
  const charset = /charset="?([\w-]{1,40})/i.exec(type)?.[1] ?? 'utf-8';
  let text: string;
  try {
    text = new TextDecoder(charset).decode(body);
  } catch {
    // A name of no encoding that is known: most pages are in this one.
    text = new TextDecoder().decode(body);
  }
  return /html|^text\/(?!plain)/i.test(type) ? readPage(text) : readPlain(text);
}
