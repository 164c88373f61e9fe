import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import type { SkillHouse } from '../skill/house.ts';
import { skillHouse, tools } from '../skill/house.ts';

const plugins = ['gate', 'skill', 'setting', 'mcp', tools];

async function rpc({ house }: SkillHouse, who: string, message: unknown) {
  const answer = await house.fetch('/mcp', {
    method: 'POST',
    headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
    body:
      typeof message === 'string'
        ? message
        : JSON.stringify({ jsonrpc: '2.0', ...(message as object) }),
  });
  const text = await answer.text();
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

const call = (name: string, args: object = {}) => ({
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

test('a client is greeted in its version or the newest, lists what the gate lets it see, and calls it', async (t) => {
  const kit = await skillHouse(t, { plugins });
  const hello = (protocolVersion: string) =>
    rpc(kit, 'anna', {
      id: 'a',
      method: 'initialize',
      params: { protocolVersion, capabilities: {}, clientInfo: {} },
    });
  assert.equal((await hello('2025-03-26')).body.result.protocolVersion, '2025-03-26');
  assert.equal((await hello('1999-01-01')).body.result.protocolVersion, '2025-11-25');
  assert.deepEqual(await rpc(kit, 'anna', { method: 'notifications/initialized' }), {
    status: 202,
    body: undefined,
  });

  const names = async (who: string): Promise<string[]> =>
    (await rpc(kit, who, { id: 1, method: 'tools/list' })).body.result.tools.map(
      ({ name }: { name: string }) => name,
    );
  const before = await names('anna');
  await kit.allowWrites();
  const after = await names('anna');
  assert.ok(after.length > before.length, `${before.join()} | ${after.join()}`);
  assert.deepEqual(await names('vera'), before, 'a viewer only reads');
  assert.deepEqual(await names('token-anna'), before, 'so does a program with a token');
  const { body } = await rpc(kit, 'anna', { id: 1, method: 'tools/list' });
  assert.ok(
    body.result.tools.every(
      ({ inputSchema }: { inputSchema: { type: string } }) => inputSchema.type === 'object',
    ),
  );
});

test('what it says wrongly is an error of the protocol, what a tool does wrongly an answer of the tool', async (t) => {
  const kit = await skillHouse(t, { plugins });
  const codeOf = async (message: unknown): Promise<unknown> =>
    (await rpc(kit, 'anna', message)).body.error.code;
  assert.equal(await codeOf('{'), -32_700);
  assert.equal(await codeOf('[]'), -32_600);
  assert.equal(await codeOf({ id: {}, method: 'ping' }), -32_600);
  assert.equal(await codeOf({ id: 1, method: 'resources/list' }), -32_601);
  assert.equal(await codeOf(call('no_such_tool')), -32_602);
  for (let count = 0; count < 4; count++) {
    assert.equal(
      await codeOf({ ...call(''), params: { name: { toString: 1, valueOf: 1 } } }),
      -32_602,
      'no name takes the room out of service',
    );
  }
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool_search","arguments":{"query":${'['.repeat(20_000)}${']'.repeat(20_000)}}}}`;
  assert.equal(await codeOf(deep), -32_600);
  assert.deepEqual((await rpc(kit, 'anna', { id: 7, method: 'ping' })).body, {
    jsonrpc: '2.0',
    id: 7,
    result: {},
  });
  assert.equal((await rpc(kit, 'stranger', { id: 7, method: 'ping' })).status, 401);
  assert.equal(
    (await kit.house.fetch('/mcp', { headers: { authorization: 'Bearer anna' } })).status,
    405,
  );
  const refused = (await rpc(kit, 'vera', call('tool_search', { nonsense: 1 }))).body.result;
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, /invalid_argument/);
});

test('tools of another manager are used through this one: dangerous until they are classed, untrusted for good', async (t) => {
  const far = await skillHouse(t, { plugins });
  const near = await skillHouse(t, {
    plugins,
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' },
  });
  const put = (key: string, value: unknown) =>
    near.house.json(`/api/v1/system-settings/mcp/${key}`, {
      method: 'PUT',
      body: JSON.stringify({ value }),
    });
  const states = async () =>
    (await near.ask('operator', 'GET', '/mcp/servers')).body.items.map(
      ({ name, state }: Record<string, string>) => `${name} ${state}`,
    );
  const tool = () => near.ask('bob', 'GET', '/skills/mcp:far:tool_search');

  await put('tokens', { far: 'anna' });
  await put('servers', [
    { name: 'far', url: `${far.house.url}/mcp` },
    { name: 'wrong', url: `${far.house.url}/nothing` },
    { name: 'off', url: 'http://127.0.0.1:1/', enabled: false },
  ]);
  await near.house.settled();
  for (
    let waited = 0;
    (await states()).some((line: string) => line.endsWith('pending'));
    waited += 20
  ) {
    assert.ok(waited < 10_000, String(await states()));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(await states(), ['far ok', 'wrong failed', 'off disabled']);
  assert.equal((await tool()).body.class, 'dangerous');
  await put('servers', [
    { name: 'far', url: `${far.house.url}/mcp`, classes: { tool_search: 'safe' } },
  ]);
  for (let waited = 0; (await tool()).body.class !== 'safe'; waited += 20) {
    assert.ok(waited < 10_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { body } = await near.ask('bob', 'POST', '/skills/mcp:far:tool_search/execute', {
    params: { query: 'search' },
  });
  assert.equal(body.status, 'ok', JSON.stringify(body));
});

test('a server that speaks in event streams and forgets its session is understood, however much it says', async (t) => {
  let result: object = { content: [{ type: 'text', text: 'sunny' }] };
  let sessions = 0;
  let forgets = false;
  const server = createServer((req, res) => {
    void (async () => {
      let text = '';
      for await (const part of req) {
        text += String(part);
      }
      const { id, method } = JSON.parse(text) as { id?: number; method: string };
      if (method === 'initialize') {
        sessions += 1;
        res.setHeader('mcp-session-id', `s${sessions}`);
      } else if (req.headers['mcp-session-id'] !== `s${sessions}` || forgets) {
        forgets = false;
        res.writeHead(404).end();
        return;
      }
      const tool = { name: 'weather', description: 'x', inputSchema: { type: 'object' } };
      const results: Record<string, object> = {
        initialize: {},
        'tools/list': { tools: [tool, { name: 'broken' }, 7] },
        'tools/call': result,
      };
      if (id === undefined) {
        res.writeHead(202).end();
        return;
      }
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(
        `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress' })}\n\n`,
      );
      res.end(
        `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n\n`,
      );
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const kit = await skillHouse(t, {
    plugins,
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' },
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const value = [{ name: 'sky', url, classes: { weather: 'safe' } }];
  await kit.house.json('/api/v1/system-settings/mcp/servers', {
    method: 'PUT',
    body: JSON.stringify({ value }),
  });
  const execute = () => kit.ask('bob', 'POST', '/skills/mcp:sky:weather/execute', { params: {} });
  for (let waited = 0; (await execute()).status === 404; waited += 20) {
    assert.ok(waited < 10_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.match(JSON.stringify((await execute()).body.result), /sunny/);
  forgets = true;
  assert.match(JSON.stringify((await execute()).body.result), /sunny/);
  assert.equal(sessions, 2);

  const long = 'x'.repeat(100_000);
  result = { content: [{ type: 'text', text: long }], isError: true };
  assert.match(JSON.stringify((await execute()).body), /sky: x{1000}/);
  result = { structuredContent: { rows: Array.from({ length: 20_000 }, (_, id) => ({ id })) } };
  const { status, result: shown } = (await execute()).body;
  assert.deepEqual([status, shown.items], ['ok', { rows: 20_000 }], JSON.stringify(shown));

  // What is no text is said, or a model reports that there was nothing.
  const said = async (content: unknown) => {
    result = { content };
    return JSON.stringify((await execute()).body.result);
  };
  assert.match(
    await said([{ type: 'image', data: 'aGk=', mimeType: 'image/png' }]),
    /1 part of the result cannot be shown as text: image/,
  );
  assert.match(
    await said([{ type: 'text', text: 'sunny' }, { type: 'audio', data: 'aGk=' }, 7]),
    /sunny.*2 parts of the result cannot be shown as text: audio, unknown/,
  );
  assert.match(
    await said([{ type: 'resource', resource: { uri: 'file:///a', text: 'rain at six' } }]),
    /rain at six/,
  );
  assert.match(await said(null), /answered without any content/);
});
