import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { skillHouse, tools } from '../skill/house.ts';

const plugins = ['gate', 'skill', 'setting', 'mcp', tools];

test('the client of the official SDK lists our tools and calls one', async (t) => {
  const { house } = await skillHouse(t, { plugins });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${house.url}/mcp`), {
    requestInit: { headers: { authorization: 'Bearer anna' } },
  });
  await client.connect(transport);
  t.after(() => client.close());
  const { tools: listed } = await client.listTools();
  const tool = listed.find(({ name }) => name === 'sample_safe');
  assert.deepEqual(
    [tool?.annotations?.readOnlyHint, listed.some(({ name }) => name === 'sample_mutating')],
    [true, false],
  );
  const result = await client.callTool({ name: 'sample_safe', arguments: { host: 'db-3' } });
  assert.match(JSON.stringify(result.content), /done/);
});

test('what is dangerous is opened as an approval for the official client, and run once two people have signed', async (t) => {
  const kit = await skillHouse(t, { plugins: ['approval', ...plugins] });
  await kit.allowWrites();
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${kit.house.url}/mcp`), {
      requestInit: { headers: { authorization: 'Bearer anna' } },
    }),
  );
  t.after(() => client.close());
  const { tools: listed } = await client.listTools();
  assert.equal(
    listed.find(({ name }) => name === 'sample_dangerous')?.annotations?.destructiveHint,
    true,
  );
  const { content } = await client.callTool({
    name: 'sample_dangerous',
    arguments: { host: 'db-3' },
  });
  const { status, approval_id: id } = JSON.parse(
    (content as { text: string }[])[0]!.text,
  ) as Record<string, string>;
  assert.deepEqual([status, kit.done], ['approval', []]);
  for (const who of ['bob', 'carl'] as const) {
    const { args_sha256 } = (await kit.ask(who, 'GET', `/approvals/${id}`)).body;
    assert.equal(
      (await kit.ask(who, 'POST', `/approvals/${id}/approve`, { args_sha256 })).status,
      200,
    );
  }
  for (
    let waited = 0;
    (await kit.ask('anna', 'GET', `/approvals/${id}`)).body.status !== 'executed';
    waited += 20
  ) {
    assert.ok(waited < 20_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(kit.done, [{ tool: 'dangerous', params: { host: 'db-3', times: 1 } }]);
});

test('a server of the official SDK is used through ours', async (t) => {
  const server = new Server({ name: 'weather', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      {
        name: 'forecast',
        description: 'Tomorrow.',
        inputSchema: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: 'text', text: `sunny in ${String(params.arguments?.['city'])}` }],
  }));
  let made = 0;
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => `session-${++made}`,
  });
  await server.connect(transport);
  const http = createServer((req, res) => void transport.handleRequest(req, res));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    await server.close();
    http.closeAllConnections();
    http.close();
  });

  const kit = await skillHouse(t, {
    plugins,
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' },
  });
  const value = [
    {
      name: 'weather',
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
      classes: { forecast: 'safe' },
    },
  ];
  await kit.house.json('/api/v1/system-settings/mcp/servers', {
    method: 'PUT',
    body: JSON.stringify({ value }),
  });
  const execute = (params: object) =>
    kit.ask('bob', 'POST', '/skills/mcp:weather:forecast/execute', { params });
  for (let waited = 0; (await execute({ city: 'Ulm' })).status === 404; waited += 20) {
    assert.ok(waited < 10_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.match(JSON.stringify((await execute({ city: 'Ulm' })).body.result), /sunny in Ulm/);
  assert.equal((await execute({})).status, 400, 'its own schema is held here already');
});
