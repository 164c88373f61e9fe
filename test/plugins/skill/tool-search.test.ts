import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SkillRunner, Skills } from 'svc/contracts/skill';

import { OwnTools } from '../../../plugins/skill/own-tools.ts';
import { until } from '../edge/house.ts';
import { changingServer } from '../mcp/changing-server.ts';
import { foreignTools } from './foreign-tools.ts';
import { skillHouse } from './house.ts';

const rooms = [
  'gate',
  'skill',
  'setting',
  'mcp',
  'metricsdb',
  'logs',
  'traces',
  'alert',
  'topology',
  'device',
  'monitor',
  'changes',
];

/** Questions as a model asks, in its own words, with the tool that should come first. */
const asked: readonly (readonly [question: string, key: string])[] = [
  ['evaluate a PromQL query right now', 'metrics_query'],
  ['value of a metric over the last hour, with its maximum', 'metrics_range'],
  ['which metrics are there with disk in their name', 'metrics_find'],
  ['which device is an outlier, unlike the others', 'metrics_outliers'],
  ['search log lines for a text', 'logs_query'],
  ['count lines of logs with LogQL', 'logs_query'],
  ['most frequent kinds of log lines', 'logs_templates'],
  ['summarize the logs into templates', 'logs_templates'],
  ['find slow traces of the checkout service', 'traces_search'],
  ['show the spans of one trace', 'trace_get'],
  ['what incidents are firing', 'incidents_list'],
  ['open incidents of a device', 'incidents_list'],
  ['timeline of one incident', 'incident_get'],
  ['notify channels about an incident', 'incident_notify'],
  ['mute incidents for two hours during maintenance', 'silence_create'],
  ['silence an alert', 'silence_create'],
  ['list the alert rules and their conditions', 'rules_list'],
  ['preview a draft of an alert rule over past data', 'rule_preview'],
  ['blast radius of the database', 'topology_blast_radius'],
  ['what would a failure of this node reach', 'topology_blast_radius'],
  ['find a service in the topology', 'topology_find'],
  ['machines of the fleet that are offline', 'devices_list'],
  ['list devices by tag', 'devices_list'],
  ['which edge watches this machine', 'device_get'],
  ['list the dashboards', 'dashboards_list'],
  ['queries behind the panels of one dashboard', 'dashboard_get'],
  ['recent changes of a service', 'changes_feed'],
  ['what is PromQL evaluated to at one time', 'metrics_query'],
  ['deploys, reboots and upgrades before the incident', 'changes_feed'],
  ['read on in a result that was too large', 'evidence_read'],
  ['read a guide for this kind of task', 'guide_read'],
  // And those of others, where they are meant.
  ['create an issue on GitHub', 'mcp:desk:github_create_issue'],
  ['search Jira tickets', 'mcp:desk:jira_search_ticket'],
  ['send a Slack message', 'mcp:desk:slack_create_message'],
  ['list on-call shifts in PagerDuty', 'mcp:desk:pagerduty_list_on_call_shift'],
  ['delete a pod in Kubernetes', 'mcp:desk:kubernetes_delete_pod'],
  ['list load balancers of AWS', 'mcp:desk:aws_list_load_balancer'],
  ['get a Confluence page', 'mcp:desk:confluence_get_page'],
  ['create a refund in Stripe', 'mcp:desk:stripe_create_refund'],
  ['list the DNS records of Cloudflare', 'mcp:desk:cloudflare_list_dns_record'],
];

test('among several hundred tools the right one is found first, and what is looked up comes whole', async (t) => {
  const server = await changingServer(t, foreignTools);
  const kit = await skillHouse(t, {
    plugins: rooms,
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' },
  });
  await kit.allowWrites();
  const classes = Object.fromEntries(foreignTools.map(({ name }) => [name, 'safe']));
  await kit.house.json('/api/v1/system-settings/mcp/servers', {
    method: 'PUT',
    body: JSON.stringify({ value: [{ name: 'desk', url: server.url, classes }] }),
  });
  const registry = kit.house.service(Skills);
  await until(
    'the tools of the server are listed',
    () => registry.tools().length > foreignTools.length,
  );
  assert.ok(foreignTools.length >= 480 && asked.length >= 40);
  assert.deepEqual(
    asked.map(([, key]) => key).filter((key) => registry.tool(key) === undefined),
    [],
  );

  const search = async (params: Record<string, unknown>) => {
    const { result } = await kit.house
      .service(SkillRunner)
      .run({ principal: kit.principal('bob'), key: 'tool_search', params, origin: 'chat' });
    return result as { tools: { key: string; schema?: object }[]; not_available?: string[] };
  };
  const wrong: string[] = [];
  let among = 0;
  for (const [question, key] of asked) {
    const { tools } = await search({ query: question });
    among += tools.slice(0, 3).some((one) => one.key === key) ? 1 : 0;
    if (tools[0]?.key !== key) {
      wrong.push(
        `${question}: ${tools
          .slice(0, 3)
          .map((one) => one.key)
          .join(', ')} instead of ${key}`,
      );
    }
  }
  t.diagnostic(
    `${asked.length - wrong.length} of ${asked.length} first, ${among} among the first three`,
  );
  assert.ok(wrong.length <= asked.length * 0.1, wrong.join('\n'));
  assert.ok(among >= asked.length * 0.97, `${among} of ${asked.length} among the first three`);

  const { tools, not_available: missing } = await search({
    select: ['metrics_query', 'mcp_desk_github_create_issue', 'mcp:desk:nothing'],
  });
  assert.deepEqual(
    tools.map(({ key, schema }) => [key, schema !== undefined]),
    [
      ['mcp:desk:github_create_issue', true],
      ['metrics_query', true],
    ],
  );
  assert.deepEqual(missing, ['mcp:desk:nothing']);
});

test('guides are texts of the area skill: a token that may not read it finds and reads none', async (t) => {
  const kit = await skillHouse(t, { plugins: ['gate', 'skill'] });
  const guide = {
    key: 'fill',
    name: 'fill',
    description: 'What fills a disk.',
    tools: [],
    body: 'df',
  };
  const registry = { guides: () => [guide], tools: () => [], aliases: () => new Map() };
  const own = new OwnTools({
    registry: () => ({ ...registry, shownTo: async () => registry }),
  } as unknown as ConstructorParameters<typeof OwnTools>[0]);
  const token = (...grants: readonly string[]) => ({
    ...kit.principal('bob'),
    kind: 'token' as const,
    grants,
  });
  const found = async (...grants: readonly string[]): Promise<unknown> => {
    const params = { query: 'what fills the disk' };
    const call = {
      principal: token(...grants),
      key: 'tool_search',
      params,
      origin: 'api' as const,
    };
    return ((await own.run(call, params)) as { guides?: unknown }).guides;
  };
  assert.deepEqual(await found('read:skill'), [{ key: 'fill', description: 'What fills a disk.' }]);
  assert.equal(await found('read:mcp', 'skill:execute'), undefined);
  await assert.rejects(
    kit.house.service(SkillRunner).run({
      principal: token('read:mcp', 'skill:execute'),
      key: 'guide_read',
      params: { key: 'fill' },
      origin: 'api',
    }),
    /lacks read:skill/,
  );
});
