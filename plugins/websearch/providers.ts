import { objectIn, type Product } from 'svc/connection';
import type { OutboundRequest } from 'svc/sdk';

import { plainText } from './page-text.ts';

export interface Found {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface SearchProvider {
  readonly title: string;
  /** Empty: only the administrator knows. */
  readonly url: string;
  readonly needsKey: boolean;
  request(
    key: string,
    query: string,
    count: number,
  ): Pick<OutboundRequest, 'method' | 'headers' | 'body'> & { readonly path: string };
  /** The list of results; undefined where this is no answer of the provider. */
  results(json: Readonly<Record<string, unknown>>): unknown;
  readonly snippet: 'content' | 'description';
  /** Returns the meaning of a refusal whose status does not reveal it. */
  refusal?(status: number, text: string): string | undefined;
}

export const providers: Readonly<Record<'searxng' | 'tavily' | 'brave', SearchProvider>> = {
  searxng: {
    title: 'SearXNG',
    url: '',
    needsKey: false,
    snippet: 'content',
    request: (_, query) => ({
      path: `/search?${new URLSearchParams({ q: query, format: 'json', safesearch: '1' }).toString()}`,
    }),
    results: ({ results }) => results,
    refusal: (status) =>
      status === 403
        ? 'SearXNG answers no JSON: add json to search.formats in its settings.yml'
        : undefined,
  },
  tavily: {
    title: 'Tavily',
    url: 'https://api.tavily.com',
    needsKey: true,
    snippet: 'content',
    request: (key, query, count) => ({
      path: '/search',
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        query,
        max_results: count,
        search_depth: 'basic',
        include_answer: false,
        include_images: false,
      }),
    }),
    results: ({ results }) => results,
  },
  brave: {
    title: 'Brave Search',
    url: 'https://api.search.brave.com',
    needsKey: true,
    snippet: 'description',
    request: (key, query, count) => ({
      path: `/res/v1/web/search?${new URLSearchParams({ q: query, count: String(count), text_decorations: 'false' }).toString()}`,
      headers: { 'x-subscription-token': key },
    }),
    // Without a result the whole part is missing.
    results: ({ type, web }) =>
      type !== 'search' ? undefined : ((web as { results?: unknown } | undefined)?.results ?? []),
    refusal: (status, text) =>
      status === 422 && /SUBSCRIPTION_TOKEN/.test(text)
        ? 'Brave does not know the key; check websearch.api_key'
        : undefined,
  },
};

const longest = { title: 300, url: 2_000, snippet: 1_000 };

/**
 * Returns the results, without those that are not pages; undefined if the text is not an answer of
 * the provider.
 */
export function foundIn(
  provider: SearchProvider,
  text: string,
  count: number,
): readonly Found[] | undefined {
  const json = objectIn(text);
  const list = json && provider.results(json);
  if (!Array.isArray(list)) {
    return undefined;
  }
  return list
    .filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null)
    .map((item) => ({
      title: lineOf(item['title'], longest.title),
      url: addressIn(item['url']),
      snippet: lineOf(item[provider.snippet], longest.snippet),
    }))
    .filter(({ url }) => url !== '')
    .slice(0, count);
}

/** Returns the test of the connection to a provider: one small search. */
export function productOf(provider: SearchProvider, key: string): Product {
  const { path, ...request } = provider.request(key, 'svc', 1);
  const read = (text: string) => (foundIn(provider, text, 1) === undefined ? undefined : {});
  return {
    name: provider.title,
    questions: [{ path, ...request, read }],
    ...(provider.refusal && { refusal: provider.refusal.bind(provider) }),
  };
}

/** Cleans a snippet, which contains highlighting marks. */
const lineOf = (value: unknown, most: number): string =>
  typeof value === 'string'
    ? plainText(value.slice(0, most * 4))
        .replaceAll(/\s+/g, ' ')
        .trim()
        .slice(0, most)
    : '';

function addressIn(value: unknown): string {
  if (typeof value !== 'string' || value.length > longest.url || !URL.canParse(value)) {
    return '';
  }
  const { protocol, href } = new URL(value);
  return /^https?:$/.test(protocol) ? href : '';
}
