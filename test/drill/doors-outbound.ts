import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import type { WholeHouse } from '../whole-house.ts';
import { type Door, posted, repeated, shapes } from './doors-bodies.ts';

type Answer = { readonly type?: string; readonly body: string | Uint8Array };

/** What the server beyond answers on each path; MCP is the only one that listens. */
class Beyond {
  readonly #answers = new Map<string, Answer>();
  #result: object = {};
  readonly server = createServer((req, res) => void this.#answer(req, res));

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  set(path: string, body: string | Uint8Array, type = 'application/json'): void {
    this.#answers.set(path, { type, body });
  }

  /** Sets the result of the next calls of the MCP tool. */
  result(result: object): void {
    this.#result = result;
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = new URL(req.url!, 'http://beyond').pathname;
    const answer = path === '/mcp' ? await this.#rpc(req) : this.#answers.get(path);
    req.resume();
    res
      .writeHead(answer === undefined ? 404 : 200, {
        'content-type': answer?.type ?? 'application/json',
      })
      .end(answer?.body ?? '{}');
  }

  async #rpc(req: IncomingMessage): Promise<Answer> {
    let text = '';
    for await (const piece of req) {
      text += String(piece);
    }
    const { id, method } = JSON.parse(text) as { id?: number; method: string };
    const tool = { name: 'walk', description: 'Walks.', inputSchema: { type: 'object' } };
    const result =
      method === 'tools/list' ? { tools: [tool] } : method === 'tools/call' ? this.#result : {};
    return { body: id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }) };
  }
}

const json = { 'content-type': 'application/json' };

/** Doors that take what other servers answer, and the server that answers. */
export async function openOutbound(house: WholeHouse): Promise<{
  readonly doors: readonly Door[];
  close(): Promise<void>;
}> {
  const beyond = new Beyond();
  await new Promise<void>((resolve) => beyond.server.listen(0, '127.0.0.1', resolve));
  return {
    doors: [
      ...toolDoors(house, beyond),
      ...modelDoors(house, beyond),
      ...searchDoors(house, beyond),
      ...productDoors(house, beyond),
      ...storeDoors(house, beyond),
    ],
    async close() {
      beyond.server.closeAllConnections();
      await new Promise((resolve) => beyond.server.close(resolve));
    },
  };
}

async function set(house: WholeHouse, area: string, settings: object): Promise<void> {
  for (const [key, value] of Object.entries(settings)) {
    const answer = await house.fetch(`/api/v1/system-settings/${area}/${key}`, {
      method: 'PUT',
      headers: json,
      body: JSON.stringify({ value }),
    });
    if (!answer.ok) {
      throw new Error(`${area}.${key} answered ${answer.status}: ${await answer.text()}`);
    }
  }
  await pause(500);
}

function toolDoors(house: WholeHouse, beyond: Beyond): Door[] {
  const path = '/api/v1/skills/mcp:far:walk/execute';
  const door = (name: string, result: (bytes: number) => object): Door => ({
    name,
    mostMb: 7,
    async open() {
      await set(house, 'mcp', {
        servers: [{ name: 'far', url: `${beyond.url}/mcp`, classes: { walk: 'safe' } }],
      });
      for (let tries = 0; tries < 100; tries++) {
        const { status } = await house.fetch('/api/v1/skills/mcp:far:walk');
        if (status === 200) {
          return;
        }
        await pause(100);
      }
      throw new Error('the MCP server was not found');
    },
    send: async (bytes) => {
      beyond.result(result(bytes));
      return posted(house, path, '{"params":{}}');
    },
  });
  return [
    door('tool, text', (bytes) => ({
      content: [{ type: 'text', text: repeated('lines of words.\n', bytes) }],
    })),
    door('tool, empty lists', (bytes) => ({
      structuredContent: { all: JSON.parse(shapes['empty lists'](bytes - 100)) as object },
    })),
    door('tool, names', (bytes) => ({
      structuredContent: JSON.parse(shapes.names(bytes - 100)) as object,
    })),
    door('tool, parts', (bytes) => ({
      content: JSON.parse(
        `[${repeated('{"type":"text","text":"a"}', bytes - 100, ',')}]`,
      ) as object,
    })),
  ];
}

function modelDoors(house: WholeHouse, beyond: Beyond): Door[] {
  const open = () =>
    set(house, 'llm', {
      compatible_base_url: `${beyond.url}/v1`,
      default_model: 'compatible/model',
    });
  const ask = JSON.stringify({ dialect: 'promql', prompt: 'load of all hosts' });
  const answer = (name: string, body: (bytes: number) => string): Door => ({
    name,
    open,
    send: async (bytes) => {
      beyond.set('/v1/chat/completions', body(bytes), 'text/event-stream');
      return posted(house, '/api/v1/aiops/query-translate', ask);
    },
  });
  const event = (delta: object | string): string =>
    `data: {"choices":[{"index":0,"delta":${typeof delta === 'string' ? delta : JSON.stringify(delta)}}]}\n\n`;
  return [
    answer('model, one event', (bytes) => event({ content: repeated('words ', bytes) })),
    answer('model, small events', (bytes) => repeated(event({ content: 'a' }), bytes)),
    answer('model, empty lists', (bytes) => event(shapes['empty lists'](bytes - 100))),
    answer('model, tool arguments', (bytes) =>
      repeated(
        event({
          tool_calls: [{ index: 0, id: 'a', function: { name: 'a', arguments: '[[],[],[]],' } }],
        }),
        bytes,
      ),
    ),
    {
      name: 'model list',
      mostMb: 3.9,
      open,
      send: async (bytes) => {
        beyond.set('/v1/models', `{"data":[${repeated('{"id":"m"}', bytes - 20, ',')}]}`);
        return posted(house, '/api/v1/integrations/llm/test', '{"provider":"compatible"}');
      },
    },
    {
      name: 'vectors',
      mostMb: 31,
      open: () =>
        set(house, 'knowledge', { embedding_url: `${beyond.url}/v1`, embedding_model: 'small' }),
      send: async (bytes) => {
        beyond.set(
          '/v1/embeddings',
          `{"data":[{"index":0,"embedding":[${repeated('0.25', bytes - 60, ',')}]}]}`,
        );
        return async () => String((await house.fetch('/api/v1/knowledge/search?q=load')).status);
      },
    },
  ];
}

function searchDoors(house: WholeHouse, beyond: Beyond): Door[] {
  const open = () => set(house, 'websearch', { url: beyond.url, provider: 'searxng' });
  const run = (skill: string, params: object) =>
    posted(house, `/api/v1/skills/${skill}/execute`, JSON.stringify({ params }));
  const page = (name: string, body: (bytes: number) => string): Door => ({
    name,
    mostMb: 2,
    open,
    send: async (bytes) => {
      const url = `${beyond.url}/page`;
      beyond.set('/search', JSON.stringify({ results: [{ title: 'a', url, content: 'a' }] }));
      await run('web_search', { query: 'load' })();
      beyond.set('/page', body(bytes), 'text/html');
      return run('web_read', { url });
    },
  });
  return [
    {
      name: 'web search',
      mostMb: 1,
      open,
      send: async (bytes) => {
        beyond.set('/search', `{"results":${shapes['empty lists'](bytes - 20)}}`);
        return run('web_search', { query: 'load' });
      },
    },
    page('web page, tags', (bytes) => repeated('<p>a</p>', bytes)),
    page('web page, text', (bytes) => repeated('Lines of  words.\n', bytes)),
    page('web page, titles', (bytes) => repeated('<title', bytes)),
  ];
}

function productDoors(house: WholeHouse, beyond: Beyond): Door[] {
  let number = 0;
  return [
    {
      name: 'connection test',
      mostMb: 3.9,
      send: async (bytes) => {
        beyond.set(
          '/api/health',
          `{"database":"ok","version":"11.0.0","x":${shapes.names(bytes - 60)}}`,
        );
        return posted(house, '/api/v1/integrations/dash/test', JSON.stringify({ url: beyond.url }));
      },
    },
    {
      name: 'registry',
      mostMb: 7.9,
      send: async (bytes) => {
        number += 1;
        beyond.set('/index.json', `{"packs":${shapes['empty lists'](bytes - 20)}}`);
        return posted(
          house,
          '/api/v1/marketplace/registries',
          JSON.stringify({ name: `doors-${number}`, url: `${beyond.url}/index.json` }),
        );
      },
    },
  ];
}

/** The last ones, since the stores are others from then on. */
function storeDoors(house: WholeHouse, beyond: Beyond): Door[] {
  const store = (
    name: string,
    area: string,
    settings: object,
    { path, ask, body }: { path: string; ask: string; body: (bytes: number) => string },
  ): Door => ({
    name,
    mostMb: 60,
    open: () => set(house, area, settings),
    send: async (bytes) => {
      beyond.set(path, body(bytes));
      return async () => {
        const answer = await house.fetch(ask);
        return `${answer.status} ${(await answer.arrayBuffer()).byteLength} bytes`;
      };
    },
  });
  const seconds = Math.round(Date.now() / 1_000);
  return [
    store(
      'metrics elsewhere',
      'metricsdb',
      { url: beyond.url, driver: 'remote' },
      {
        path: '/api/v1/query',
        ask: '/prometheus/api/v1/query?query=up',
        body: (bytes) =>
          `{"status":"success","data":{"resultType":"vector","result":[${repeated(`{"metric":{"a":"b"},"value":[${seconds},"1"]}`, bytes - 100, ',')}]}}`,
      },
    ),
    store(
      'logs elsewhere',
      'logs',
      { remote_url: beyond.url, driver: 'remote' },
      {
        path: '/loki/api/v1/query_range',
        ask: '/loki/api/v1/query_range?query=%7Ba%3D%22b%22%7D',
        body: (bytes) =>
          `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"a":"b"},"values":[${repeated(`["${seconds}000000000","a line"]`, bytes - 200, ',')}]}],"stats":{}}}`,
      },
    ),
    store(
      'traces elsewhere',
      'traces',
      { remote_url: beyond.url, driver: 'remote' },
      {
        path: '/api/search',
        ask: '/tempo/api/search?q=%7B%7D',
        body: (bytes) =>
          `{"traces":[${repeated(`{"traceID":"1","rootServiceName":"a","startTimeUnixNano":"${seconds}000000000","durationMs":1}`, bytes - 100, ',')}],"metrics":{}}`,
      },
    ),
  ];
}
