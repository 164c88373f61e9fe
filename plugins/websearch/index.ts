import { ConnectionAnswer } from 'svc/connection';
import {
  definePlugin,
  type Principal,
  route,
  type RouteDeclaration,
  type ToolSkill,
  toolSkill,
} from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { providers } from './providers.ts';
import { Searches } from './searches.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    const { settings, clock } = ctx;
    const searches = new Searches({
      settings,
      clock,
      providers,
      fetch: (url, request) => ctx.fetch(url, request),
    });
    const live = ctx.extend.live('web search');
    // Where nobody searches, agents do not see that it could be.
    const settle = (): void =>
      live.replace({ skills: searches.provider === undefined ? [] : webSkills(searches) });
    settle();
    settings.watch('websearch.provider', settle);
    ctx.http.routes([testRoute(searches)]);
  },
});

const personOf = ({ kind, id }: Principal): string => `${kind} ${id}`;

const webSkills = (searches: Searches): readonly ToolSkill[] => [
  toolSkill({
    key: 'web_search',
    name: 'Search the web',
    description:
      'Public web pages about error messages, products and known bugs. The query leaves this service: do not include names of hosts or people.',
    scope: 'manager',
    devices: 'none',
    reads: 'none',
    class: 'safe',
    tier: 'specialty',
    params: Type.Object({
      query: Type.String({ minLength: 2, maxLength: 400 }),
      count: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 10,
          description: 'maximum number of results; default: 5',
        }),
      ),
    }),
    run: ({ query, count = 5 }, { principal, signal }) =>
      searches.search(personOf(principal), query, count, signal),
  }),
  toolSkill({
    key: 'web_read',
    name: 'Read a web page',
    description: 'The text of a page that web_search returned within the last hour.',
    scope: 'manager',
    devices: 'none',
    reads: 'none',
    class: 'safe',
    tier: 'specialty',
    params: Type.Object({
      url: Type.String({
        minLength: 8,
        maxLength: 2_000,
        description: 'address exactly as web_search returned it',
        'x-checked-address': true,
      }),
      offset: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 4_000_000,
          description: 'next_offset from the previous response',
        }),
      ),
    }),
    run: ({ url, offset = 0 }, { principal, signal }) =>
      searches.read(personOf(principal), url, offset, signal),
  }),
];

const testRoute = (searches: Searches): RouteDeclaration =>
  route({
    method: 'POST',
    path: '/api/v1/integrations/websearch/test',
    access: 'admin',
    summary: 'Test the web search, with the saved or the given settings',
    description:
      'Runs one search, which Tavily and Brave charge for. If the provider fails, the response has ok: false rather than an error status.',
    body: Type.Object({
      provider: Type.Optional(
        Type.Enum(['searxng', 'tavily', 'brave'], {
          description:
            'Provider to test instead of the current one; the stored key is not sent to it',
        }),
      ),
      url: Type.Optional(
        Type.String({
          maxLength: 500,
          description: 'Address of that provider, if it has no default address',
        }),
      ),
      token: Type.Optional(
        Type.String({ maxLength: 1_000, description: 'API key for that provider' }),
      ),
    }),
    response: ConnectionAnswer,
    status: 200,
    timeoutMs: 20_000,
    action: 'websearch:test',
    async handle({ body: { provider, url = '', token = '' }, signal }) {
      if (provider === undefined && (url !== '' || token !== '')) {
        throw errors.no_provider_named({ details: [{ path: '/provider', message: 'is needed' }] });
      }
      return {
        ...(await searches.test(
          provider && { provider: providers[provider], url, key: token },
          signal,
        )),
      };
    },
  });
