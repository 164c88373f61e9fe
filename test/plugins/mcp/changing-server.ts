import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: object;
}

/** A server that speaks MCP and lists whatever a test makes of it. */
export async function changingServer(t: Pick<TestContext, 'after'>, tools: ListedTool[]) {
  const called: { readonly name: string; readonly arguments: object }[] = [];
  const server = createServer((req, res) => {
    void (async () => {
      let text = '';
      for await (const part of req) {
        text += String(part);
      }
      const { id, method, params } = JSON.parse(text) as {
        id?: number;
        method: string;
        params: { name: string; arguments: object };
      };
      if (id === undefined) {
        res.writeHead(202).end();
        return;
      }
      if (method === 'tools/call') {
        called.push({ name: params.name, arguments: params.arguments });
      }
      const results: Record<string, object> = {
        initialize: {},
        'tools/list': { tools },
        'tools/call': { content: [{ type: 'text', text: 'done' }] },
      };
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { called, tools, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}
