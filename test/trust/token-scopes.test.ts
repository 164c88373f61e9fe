import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Authenticator, type Principal, type RouteDeclaration } from 'svc/sdk';

import { authorize } from '../../core/http/access/authorize.ts';
import { compileRoute } from '../../core/http/routes/route-table.ts';
import { areas, type Area } from './area.ts';
import { canaryOf, plantCanaries, thingsOf } from './canaries-planted.ts';
import { idPlaces } from './foreign-ids.ts';
import { type Answer, type Household, household } from './household.ts';

/** An API token that was granted one action, and nothing else. */
interface Scope {
  readonly action: string;
  readonly token: string;
  readonly principal: Principal;
}

interface Route {
  readonly plugin: string;
  readonly key: string;
  readonly declared: RouteDeclaration;
  readonly lets: (principal: Principal) => boolean;
}

type Ids = Readonly<Record<string, string | number>>;

/** Questions for routes that show nothing without one. */
const questions: Readonly<Record<string, string>> = {
  '/prometheus/api/v1/query': 'query=canary_metric',
  '/prometheus/api/v1/series': 'match[]=canary_metric',
  '/prometheus/api/v1/label/{name}/values': '',
  '/loki/api/v1/query_range': 'query={app="shop"}',
  '/api/v1/logs/query_range': 'query={app="shop"}',
  '/loki/api/v1/series': 'match[]={app="shop"}',
  '/api/v1/knowledge/search': 'q=canary',
  '/api/v1/knowledge/document': 'path=notes/first.md',
  '/api/v1/aiops/mentions/search': 'q=',
  '/api/v1/webshell/sessions': 'state=all',
};

const muting = { matchers: [{ name: 'rule', op: '=~', value: '.*first.*' }], duration: '1h' };
const preview = {
  kind: 'metric_raw',
  scope_type: 'global',
  conditions: [{ expr: 'canary_metric > 0' }],
  lookback: '1m',
};
/** Bodies that make a route show what it can, where the example of the API document does not. */
const bodies: Readonly<Record<string, unknown>> = {
  'POST /api/v1/alerts/silences/preview': muting,
  'POST /api/v1/alerts/silences': muting,
  'PUT /api/v1/alerts/silences/{id}': muting,
  'POST /api/v1/alert-rules/preview': preview,
  'POST /api/v1/alerts/incidents/{id}/ack': {},
  'POST /api/v1/alerts/incidents/{id}/silence': { hours: 1 },
  'POST /api/v1/alerts/incidents/{id}/resolve': {},
  'POST /api/v1/alert-rules/{id}/enabled': { enabled: true },
  'PATCH /api/v1/devices/{id}': { display_name: 'one' },
  'PATCH /api/v1/devices/{id}/roles': { roles: ['db'] },
  'PATCH /api/v1/knowledge/docs/{id}': { title: 'Mine' },
  'PATCH /api/v1/topology/nodes/{id}': { name: 'store' },
  'PATCH /api/v1/monitor/panels/{id}': { unit: 's' },
  'PATCH /api/v1/roles/{name}': { grants: [] },
};

/** Tools that only read, with params with which they show what they can. */
const toolCalls: readonly (readonly [tool: string, parameters: object])[] = [
  ['devices_list', {}],
  ['device_get', { device_id: 1 }],
  ['incidents_list', {}],
  ['rules_list', {}],
  ['rule_preview', preview],
  ['changes_feed', {}],
  ['changes_list', {}],
  ['metrics_query', { query: 'canary_metric' }],
  ['metrics_find', { text: 'canary' }],
  ['logs_query', { query: '{app="shop"}' }],
  ['traces_search', { query: '{ }' }],
  ['trace_get', { trace_id: '1'.repeat(32) }],
  ['guide_read', { key: 'canary-guide' }],
  ['tool_search', { query: 'canary' }],
  ['knowledge.search', { query: 'canary' }],
  ['knowledge.read', { document: 'notes/first.md' }],
  ['knowledge.runbook', { document: 'notes/first.md' }],
  ['trace_tags', {}],
  ['metrics_exemplars', { query: 'canary_metric' }],
  ['topology_find', { q: 'shop' }],
  ['dashboard_get', { uid: 'first' }],
  ['dashboards_list', {}],
  ['incident_get', { incident_id: 1 }],
  ['investigate', { incident_id: 1 }],
  ['logs_range', { query: 'count_over_time({app="shop"}[5m])' }],
  ['logs_labels', {}],
  ['logs_labels', { name: 'note' }],
  ['logs_templates', { query: '{app="shop"}' }],
  ['manual_search', { query: 'canary' }],
  ['manual_read', { page: 'roles' }],
  ['metrics_range', { query: 'canary_metric' }],
  ['metrics_outliers', { query: 'canary_metric' }],
  ['topology_blast_radius', { q: 'shop' }],
  ['trace_tag_values', { tag: 'name' }],
  ['evidence_read', { id: 'E1' }],
];

test('what an API token of each single action can read is what the declarations say', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-scopes-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const people = await household(t, {
    dataDir,
    watch: true,
    environment: { SVC_LOG_LEVEL: 'warn', SVC_SKILLS_EXTERNAL_DIRS: join(dataDir, 'guides') },
  });
  const ids = await plantCanaries(people);
  const routes = routesOf(people);
  const scopes = await scopesOf(people);
  const guide = readFileSync(new URL('../../docs/roles.md', import.meta.url), 'utf8');
  const guarded = routes.flatMap(({ declared: { method, access } }) =>
    method === 'GET' && typeof access === 'string' && /^[\w-]+:/.test(access) ? [access] : [],
  );
  assert.deepEqual(
    [...new Set(guarded)].filter((action) => !guide.includes(`\`${action}\``)),
    [],
    'roles.md names each action that lets a token read a list without read:<area>',
  );
  const planted = [...new Set(scopes.flatMap(({ action }) => areasOf(action, routes)))];
  const called = new Set(toolCalls.map(([tool]) => tool));
  assert.deepEqual(
    [...people.house.registry.current.skills.values()]
      .flatMap(({ value }) => (value.kind === 'tool' && value.class === 'safe' ? [value.key] : []))
      .filter((key) => !called.has(key)),
    [],
    'every tool that only reads is called',
  );
  const book = await examples(people);

  const found = new Map<string, Set<string>>();
  const foundThings = new Set<string>();
  const things = Object.entries(thingsOf).flatMap(([area, names]) =>
    names.map((name) => canaryOf(area, name)),
  );
  const wrong: string[] = [];
  let asked = 0;
  let taken = 0;
  const search = (scope: Scope, where: string, text: string): void => {
    const readable = areasOf(scope.action, routes);
    things.filter((thing) => text.includes(thing)).forEach((thing) => foundThings.add(thing));
    for (const area of new Set([...planted, ...hasCanary, ...forNoToken])) {
      if (!text.includes(canaryOf(area))) {
        continue;
      }
      found.set(scope.action, (found.get(scope.action) ?? new Set()).add(area));
      if (!readable.includes(area)) {
        wrong.push(`${scope.action} reads ${area} through ${where}`);
      }
    }
  };

  const last = (route: Route): number => (route.declared.method === 'DELETE' ? 1 : 0);
  for (const route of routes.toSorted((a, b) => last(a) - last(b))) {
    for (const scope of scopes.filter(({ principal }) => route.lets(principal))) {
      const answer = await ask(people, scope.token, route, ids, book);
      asked += 1;
      taken += answer.status < 400 ? 1 : 0;
      search(scope, route.key, answer.text);
    }
  }
  for (const scope of scopes.filter(({ action }) => /^(skill|mcp|read:mcp)/.test(action))) {
    for (const [tool, parameters] of toolCalls) {
      for (const text of await callTool(people, scope.token, tool, parameters)) {
        search(scope, `the tool ${tool}`, text);
      }
    }
  }

  t.diagnostic(`${scopes.length} tokens, ${asked} calls, ${taken} taken`);
  assert.deepEqual([...new Set(wrong)], []);
  const unseen = planted.filter(
    (area) => hasCanary.has(area) && !found.get(`read:${area}`)?.has(area),
  );
  const readable = forNoToken.filter((area) => [...found.values()].some((seen) => seen.has(area)));
  assert.deepEqual(readable, [], 'no token finds what is for no token');
  assert.deepEqual(unseen, [], 'a token that reads an area finds its canary');
  assert.deepEqual(
    things.filter((thing) => !foundThings.has(thing)),
    thingsForNoToken,
    'each other thing of an area is found by a token that may read it',
  );
  assert.ok(taken > asked / 2, `${taken} of ${asked} calls are taken`);
});

/** Areas in which a canary can be seen by a GET. */
const hasCanary = new Set(
  'alert alert-sources changes checks connected-stores device edge heartbeats iam imbridge investigate knowledge logs marketplace mcp metricsdb monitor notify persona schedules session skill topology traces webshell'.split(
    ' ',
  ),
);

/** Areas whose canaries no token finds: what people ask in private, sign, or set up. */
const forNoToken = ['approval', 'chat', 'setting'];
/** Things of other areas that are for one person, or for who may open a shell. */
const thingsForNoToken = [
  canaryOf('imbridge', 'link'),
  // Questions quote alerts, so that one action alone does not open their list.
  canaryOf('knowledge', 'gap'),
  canaryOf('setting', 'address'),
  canaryOf('webshell', 'host-key'),
];

/**
 * Returns what a token with this action may read, by the declarations alone: the area that it names,
 * those of the lists that the action opens, and what these quote of others.
 */
function areasOf(action: string, routes: readonly Route[]): readonly string[] {
  const [verb, area = ''] = action.split(':');
  return [
    ...(verb === 'read' ? [area] : []),
    ...routes.flatMap(({ plugin, declared: { method, access, quotes = [] } }) =>
      (method === 'GET' && access === action) || action === `read:${plugin}`
        ? [plugin, ...quotes]
        : [],
    ),
  ];
}

const routesOf = ({ house }: Household): Route[] =>
  [...house.registry.current.routes.values()].map((entry) => {
    const route = compileRoute(entry);
    return {
      plugin: entry.owner.pluginId,
      key: `${entry.value.method} ${entry.value.path}`,
      declared: entry.value,
      lets(principal) {
        if (['public', 'machine', 'admin'].includes(entry.value.access as string)) {
          return false;
        }
        try {
          authorize(principal, route, {}, true);
          return true;
        } catch {
          return false;
        }
      },
    };
  });

/** Makes a token for each action there is, and for reading each area; one person has room for fifty. */
async function scopesOf({ house, ask, person, clock }: Household): Promise<Scope[]> {
  const { generations, routes, skills } = house.registry.current;
  const areasRead = [...routes.values(), ...skills.values()].flatMap(({ owner, value }) => [
    owner.pluginId,
    ...('reads' in value && Array.isArray(value.reads) ? (value.reads as readonly string[]) : []),
  ]);
  const actions = [
    ...[...generations.values()].flatMap(({ manifest }) => Object.keys(manifest.actions)),
    ...[...new Set(areasRead)].map((area) => `read:${area}`),
  ];
  const expires_at = new Date(Date.now() + clock.ahead + 86_400_000).toISOString();
  const scopes: Scope[] = [];
  let owner = '';
  for (const action of actions) {
    if (scopes.length % 45 === 0) {
      owner = (await person(`owner-${scopes.length}`, 'admin')).access;
      await theirs(ask, owner);
    }
    const { status, body } = await ask('POST', '/api/v1/tokens', owner, {
      name: canaryOf('session'),
      actions: [action],
      expires_at,
    });
    if (status === 201) {
      const value: string = body.token;
      const principal = await house
        .service(Authenticator)
        .authenticate({ scheme: 'bearer', value, ip: '127.0.0.1' });
      scopes.push({ action, token: value, principal: principal! });
    }
  }
  assert.ok(scopes.length > 80, `${scopes.length} of ${actions.length} actions`);
  return scopes;
}

/** What belongs to one person, and is seen by their tokens alone. */
async function theirs(ask: Household['ask'], owner: string): Promise<void> {
  for (const [path, body] of [
    ['/api/v1/chat/sessions', { title: canaryOf('chat') }],
    [
      '/api/v1/schedules',
      {
        name: canaryOf('schedules'),
        agent: 'scout',
        question: 'What needs attention today?',
        cron: '0 7 * * *',
        deliver_to: 'document',
      },
    ],
  ] as const) {
    const { status, text } = await ask('POST', path, owner, body);
    assert.equal(status, 201, text);
  }
}

interface Examples {
  readonly document: Answer['body'];
  readonly areas: ReadonlyMap<string, Area>;
}

const examples = async ({ house, ask }: Household): Promise<Examples> => ({
  document: (await ask('GET', '/api/v1/openapi.json', house.token)).body,
  areas: (await areas()).all,
});

/** Everything that comes back of one call, headers too. */
async function ask(
  { house }: Household,
  token: string,
  { plugin, key, declared }: Route,
  ids: Ids,
  { document, areas: all }: Examples,
): Promise<{ readonly status: number; readonly text: string }> {
  const area = all.get(plugin) ?? { routes: '' };
  let { path } = declared;
  for (const { where, at, collection } of idPlaces(declared, area, [...all.values()])) {
    if (where === 'path') {
      const isKept = declared.method === 'DELETE' && !path.endsWith('/silence');
      const id = isKept ? 999_999 : (ids[collection] ?? ids[at[0]!] ?? 1);
      path = path.replace(`{${at[0]!}}`, encodeURIComponent(String(id)));
    }
  }
  const question = questions[declared.path];
  const example =
    document.paths[declared.path]?.[declared.method.toLowerCase()]?.requestBody?.content?.[
      'application/json'
    ]?.example;
  const body = bodies[key] ?? area.bodies?.[key]?.(ids) ?? example ?? {};
  const isForm = declared.consumes?.includes('application/x-www-form-urlencoded') === true;
  const hasBody = declared.body !== undefined || declared.consumes !== undefined;
  const answer = await fetch(
    house.url + path + (question === undefined || isForm ? '' : `?${encodeURI(question)}`),
    {
      method: declared.method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(hasBody && {
          'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        }),
      },
      ...(hasBody && { body: isForm ? encodeURI(question ?? '') : JSON.stringify(body) }),
    },
  );
  const head = JSON.stringify([...answer.headers]);
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return {
    status: answer.status,
    text: head + (isStream ? await begun(answer) : await answer.text()),
  };
}

/** What a stream says at first. */
async function begun({ body }: Response): Promise<string> {
  const reader = body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return Buffer.from(value ?? []).toString();
}

/** Answers of a tool, called by hand and by an MCP client. */
async function callTool(
  { ask: send }: Household,
  token: string,
  tool: string,
  parameters: object,
): Promise<readonly string[]> {
  const byHand = await send('POST', `/api/v1/skills/${tool}/execute`, token, {
    params: parameters,
  });
  const byClient = await send('POST', '/mcp', token, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: tool.replace('.', '_'), arguments: parameters },
  });
  return [byHand.text, byClient.text];
}
