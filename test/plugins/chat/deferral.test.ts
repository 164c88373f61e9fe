import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Skills } from 'svc/contracts/skill';

import { type ChatRequest, textOf } from '../../../plugins/model/cli/fake-model/chat-request.ts';
import { until } from '../edge/house.ts';
import { changingServer } from '../mcp/changing-server.ts';
import { foreignTools } from '../skill/foreign-tools.ts';
import { tools } from '../skill/house.ts';
import { agentHouse, turns } from './house.ts';

const offered = ({ tools: given = [] }: ChatRequest): string[] =>
  given.map(({ function: { name } }) => name).toSorted();
const key = 'mcp:desk:jira_search_ticket';
const name = 'mcp_desk_jira_search_ticket';

test('above the threshold tools are named without their parameters, and used once they were looked up', async (t) => {
  const server = await changingServer(t, [...foreignTools]);
  const script = turns(
    [
      [name, { id: 'OPS-1' }],
      ['tool_search', { query: 'search Jira tickets' }],
      ['tool_search', { select: [name] }],
      [name, { id: 'OPS-1' }],
    ],
    'Found.',
  );
  const kit = await agentHouse(t, {
    rules: script,
    plugins: ['gate', 'approval', 'skill', 'setting', 'model', 'chat', 'mcp', tools],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' },
  });
  const classes = Object.fromEntries(foreignTools.map((tool) => [tool.name, 'safe']));
  const set = (path: string, value: unknown) =>
    kit.house.json(`/api/v1/system-settings/${path}`, {
      method: 'PUT',
      body: JSON.stringify({ value }),
    });
  await set('mcp/servers', [{ name: 'desk', url: server.url, classes }]);
  await until(
    'the tools of the server are listed',
    () => kit.house.service(Skills).tool(key)?.class === 'safe',
  );

  const { tool_calls: calls, message } = await kit.send('Is there a ticket?');
  assert.deepEqual(
    [message, calls.map(({ status }: { status: string }) => status), server.called],
    [
      'Found.',
      ['refused', 'ok', 'ok', 'ok'],
      [{ name: 'jira_search_ticket', arguments: { id: 'OPS-1' } }],
    ],
  );
  assert.match(calls[0].result_preview, /look mcp_desk_jira_search_ticket up with tool_search/);
  assert.match(
    calls[1].result_preview,
    /^\{"result":\{"tools":\[\{"key":"mcp:desk:jira_search_ticket"/,
  );
  const [first, , , fourth] = kit.fake.requests.map(({ body }) => body);
  // The core tier stands whole, those of the server by name and one line, as many as may.
  assert.deepEqual(
    offered(first!).filter((each) => each.startsWith('mcp_')),
    [],
  );
  assert.ok(
    ['tool_search', 'sample_safe', 'sample_dangerous', 'evidence_read', 'agent_ask'].every((each) =>
      offered(first!).includes(each),
    ),
    offered(first!).join(),
  );
  const system = textOf(first!.messages[0]!);
  const lines = system.split('\n').filter((line) => line.startsWith('- mcp_desk_'));
  const more = Number(/and (\d+) more; tool_search finds them/.exec(system)![1]);
  assert.ok(
    lines.length > 20 && lines.length + more >= foreignTools.length,
    `${lines.length} named, ${more} more`,
  );
  assert.ok(lines.every((line) => /^- \w+: \S.*\.$/.test(line)) && !system.includes('Id of the'));
  assert.deepEqual(
    offered(fourth!).filter((each) => each.startsWith('mcp_')),
    [name],
  );
  assert.ok(JSON.stringify(fourth!.tools).includes('Id of the ticket.'));
  const size = JSON.stringify(first).length;
  assert.ok(size < 30_000, `a prompt of ${size} characters`);

  // What was looked up in one run is not looked up in another, and below the threshold nothing is kept back.
  await set('agent/deferral_threshold', 1_000);
  const from = kit.fake.requests.length;
  await kit.send('And now?', await kit.newSession());
  assert.equal(
    offered(kit.fake.requests[from]!.body).filter((each) => each.startsWith('mcp_')).length,
    foreignTools.length,
  );

  // A few tools that say very much of themselves are looked up as well.
  server.tools.splice(
    0,
    server.tools.length,
    ...foreignTools
      .slice(0, 3)
      .map((tool) => ({ ...tool, inputSchema: { type: 'object', title: 'x'.repeat(30_000) } })),
  );
  await set('agent/deferral_threshold', 100);
  await set('mcp/servers', [{ name: 'desk', url: `${server.url}?2`, classes }]);
  await until(
    'the tools of the server are listed again',
    () => kit.house.service(Skills).tool(key) === undefined,
  );
  const again = kit.fake.requests.length;
  await kit.send('And now?', await kit.newSession());
  const heavy = kit.fake.requests[again]!.body;
  assert.deepEqual(
    [
      offered(heavy).filter((each) => each.startsWith('mcp_')),
      textOf(heavy.messages[0]!).includes('- mcp_desk_github_get_issue: '),
    ],
    [[], true],
  );
});
