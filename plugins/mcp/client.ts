import { parseForeignJson, type PluginContext, type SvcError } from 'svc/sdk';

import { errors } from './errors.ts';
import { isRecord, type RpcReply } from './json-rpc.ts';

export interface RemoteTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface McpAddress {
  readonly name: string;
  readonly url: string;
  readonly token: string | undefined;
}

const protocolVersion = '2025-06-18';
const maxTools = 500;
const maxPages = 20;
const maxBytes = 8 * 1024 * 1024;
const listMs = 15_000;
/** Max events of a reply, and lines of one. */
const [maxEvents, maxLines] = [1_000, 1_000];

/**
 * Client of one other MCP server: opens a session when it is first needed, and again if the server
 * has dropped it.
 */
export class McpClient {
  readonly #fetch: PluginContext['fetch'];
  readonly #address: McpAddress;
  readonly #version: string;
  #session: Promise<string | undefined> | undefined;
  #next = 1;

  constructor(fetch: PluginContext['fetch'], address: McpAddress, version: string) {
    this.#fetch = fetch;
    this.#address = address;
    this.#version = version;
  }

  /** Returns all valid tools; invalid ones are skipped. */
  async tools(signal: AbortSignal): Promise<readonly RemoteTool[]> {
    const found: RemoteTool[] = [];
    let cursor: unknown;
    for (let page = 0; page < maxPages && found.length < maxTools; page++) {
      const result = await this.#call(
        'tools/list',
        cursor === undefined ? {} : { cursor },
        listMs,
        signal,
      );
      const listed = Array.isArray(result['tools']) ? (result['tools'] as unknown[]) : [];
      found.push(...listed.flatMap(toolOf));
      cursor = result['nextCursor'];
      if (typeof cursor !== 'string') {
        break;
      }
    }
    return found.slice(0, maxTools);
  }

  async callTool(
    name: string,
    params: Readonly<Record<string, unknown>>,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<unknown> {
    const result = await this.#call('tools/call', { name, arguments: params }, timeoutMs, signal);
    const content = Array.isArray(result['content']) ? (result['content'] as unknown[]) : [];
    const texts = content.flatMap(textOf);
    if (result['isError'] === true) {
      throw errors.tool_failed({
        name: this.#address.name,
        texts: texts.join('\n').slice(0, 2_000),
      });
    }
    const said = [...texts, ...leftOut(content, result)];
    return result['structuredContent'] ?? (said.length === 1 ? said[0] : said);
  }

  async #call(
    method: string,
    params: object,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    for (let isSecond = false; ; isSecond = true) {
      this.#session ??= this.#open(signal);
      const session = await this.#session.catch((error: unknown) => {
        this.#session = undefined;
        throw error;
      });
      const reply = await this.#post(
        { method, params, id: this.#next++ },
        session,
        timeoutMs,
        signal,
      );
      if (reply.status !== 404 || isSecond || session === undefined) {
        return this.#resultOf(reply);
      }
      this.#session = undefined;
    }
  }

  async #open(signal: AbortSignal): Promise<string | undefined> {
    const params = {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'svc', version: this.#version },
    };
    const reply = await this.#post(
      { method: 'initialize', params, id: this.#next++ },
      undefined,
      listMs,
      signal,
    );
    this.#resultOf(reply);
    const session = reply.headers['mcp-session-id'];
    await this.#post({ method: 'notifications/initialized' }, session, listMs, signal);
    return session;
  }

  #post(message: object, session: string | undefined, timeoutMs: number, signal: AbortSignal) {
    return this.#fetch(this.#address.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': protocolVersion,
        ...(session !== undefined && { 'mcp-session-id': session }),
        ...(this.#address.token !== undefined && {
          authorization: `Bearer ${this.#address.token}`,
        }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      maxBytes,
      timeoutMs,
      signal,
    });
  }

  #resultOf({
    status,
    headers,
    body,
  }: {
    status: number;
    headers: Readonly<Record<string, string>>;
    body: Uint8Array;
  }): Readonly<Record<string, unknown>> {
    const text = Buffer.from(body).toString('utf8');
    if (status < 200 || status > 299) {
      throw this.#trouble(`answered HTTP ${status}: ${text.slice(0, 300)}`);
    }
    const replies = (headers['content-type'] ?? '').startsWith('text/event-stream')
      ? eventsOf(text)
      : [text];
    const reply = replies
      .map(parsed)
      .find((each) => each !== undefined && ('result' in each || 'error' in each));
    if (reply === undefined) {
      throw this.#trouble('has sent no reply of JSON-RPC');
    }
    if ('error' in reply) {
      throw this.#trouble(`refused: ${String(reply.error?.message).slice(0, 300)}`);
    }
    return isRecord(reply.result) ? reply.result : {};
  }

  #trouble(what: string): SvcError {
    return errors.server_failed({ name: this.#address.name, what });
  }
}

/** The data of each event of a stream that has ended. */
const eventsOf = (text: string): readonly string[] =>
  text.split(/\r?\n\r?\n/, maxEvents).map((event) =>
    event
      .split(/\r?\n/, maxLines)
      .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []))
      .join('\n'),
  );

function parsed(text: string): RpcReply | undefined {
  try {
    const value = parseForeignJson(text);
    return isRecord(value) ? (value as unknown as RpcReply) : undefined;
  } catch {
    return undefined;
  }
}

function toolOf(value: unknown): readonly RemoteTool[] {
  if (!isRecord(value) || typeof value['name'] !== 'string' || !isRecord(value['inputSchema'])) {
    return [];
  }
  const { name, title, description, inputSchema } = value;
  const text = (from: unknown): string => (typeof from === 'string' ? from.slice(0, 2_000) : '');
  return [
    {
      name: name.slice(0, 128),
      title: text(title) || name,
      description: text(description),
      schema: inputSchema,
    },
  ];
}

/** Returns the text of a part: its own, that of a resource within it, or where a resource is. */
function textOf(part: unknown): readonly string[] {
  if (!isRecord(part)) {
    return [];
  }
  const { text, resource, type, uri } = part;
  if (typeof text === 'string') {
    return [text];
  }
  return type === 'resource_link' && typeof uri === 'string'
    ? [`resource: ${uri}`]
    : isRecord(resource) && typeof resource['text'] === 'string'
      ? [resource['text']]
      : [];
}

/** Returns a sentence about what a result has besides text: a model that is not told reports that there was nothing. */
function leftOut(
  content: readonly unknown[],
  { structuredContent: data }: Readonly<Record<string, unknown>>,
): readonly string[] {
  const kinds = content
    .filter((part) => textOf(part).length === 0)
    .map((part) =>
      isRecord(part) && typeof part['type'] === 'string' ? part['type'].slice(0, 40) : 'unknown',
    );
  if (content.length === 0 && data === undefined) {
    return ['[The server answered without any content.]'];
  }
  const parts = `${kinds.length} ${kinds.length === 1 ? 'part' : 'parts'}`;
  return kinds.length === 0
    ? []
    : [`[${parts} of the result cannot be shown as text: ${[...new Set(kinds)].join(', ')}.]`];
}
