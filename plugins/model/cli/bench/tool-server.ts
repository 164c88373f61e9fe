import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { RE2JS } from 're2js';

import type { ToolAnswer } from './case.ts';

/** Tool that the bench provides for what a world cannot hold as data: hosts, clusters, databases, files. */
export interface OfferedTool {
  readonly name: string;
  readonly class: 'safe' | 'mutating' | 'dangerous';
  readonly description: string;
  /** Names of its parameters, all of them texts. */
  readonly params: readonly string[];
}

type Arguments = Readonly<Record<string, unknown>>;

/** An MCP server whose tools answer as the current case and its world say. */
export class ToolServer {
  readonly #server: Server;
  readonly #tools: readonly OfferedTool[];
  #answers: readonly ToolAnswer[] = [];
  #executed: string[] = [];

  private constructor(tools: readonly OfferedTool[]) {
    this.#tools = tools;
    this.#server = createServer(
      (request, response) => void this.#answer(request, response).catch(() => response.destroy()),
    );
  }

  static async start(tools: readonly OfferedTool[]): Promise<ToolServer> {
    const server = new ToolServer(tools);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  /** Names of the tools that were executed since the answers were set. */
  get executed(): readonly string[] {
    return [...this.#executed];
  }

  /** Sets what the tools answer from here on; earlier ones go first. */
  answerWith(answers: readonly ToolAnswer[]): void {
    this.#answers = answers;
    this.#executed = [];
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      id?: unknown;
      method: string;
      params?: { name?: string; arguments?: Arguments };
    };
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const result = this.#resultOf(method, params);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }

  #resultOf(method: string, params: { name?: string; arguments?: Arguments } = {}): object {
    if (method === 'initialize') {
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'site', version: '1' },
      };
    }
    return method === 'tools/list'
      ? { tools: this.#tools.map(declared) }
      : this.#call(params.name ?? '', params.arguments ?? {});
  }

  #call(name: string, args: Arguments): object {
    this.#executed.push(name);
    const found = this.#answers.find(({ tool, when = {} }) => tool === name && holds(when, args));
    const given = found?.answer;
    const text =
      found === undefined
        ? `nothing found for ${JSON.stringify(args)}`
        : Array.isArray(given)
          ? given.map(String).join('\n')
          : typeof given === 'string'
            ? given
            : JSON.stringify(given);
    return { content: [{ type: 'text', text }], isError: false };
  }
}

const holds = (when: Readonly<Record<string, string>>, args: Arguments): boolean =>
  Object.entries(when).every(([name, pattern]) => {
    const given = args[name] ?? '';
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).matcher(text).find();
  });

const declared = ({ name, description, params }: OfferedTool): object => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(params.map((param) => [param, { type: 'string' }])),
    additionalProperties: false,
  },
});
