import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a vendor's model says in one turn. */
export interface Said {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: object }[];
  /** The answer ends where its room does. */
  readonly cut?: boolean;
  /** What the server does instead of an answer, or after half of it. */
  readonly fault?: 'busy' | 'hang';
}

export interface Refused {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Counted {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** One piece of a request in the order in which the vendor's cache sees it. */
export interface Segment {
  readonly text: string;
  /** True if the vendor caches up to here because it was told to. */
  readonly marked?: boolean;
}

type Body = Readonly<Record<string, unknown>>;

/** A vendor's wire as strict as the vendor: what it refuses, how it counts, how it answers. */
export interface Dialect {
  /** Provider of svc that speaks it. */
  readonly provider: string;
  readonly model: string;
  readonly path: string;
  readonly busy: Refused;
  /** Returns what the vendor answers to a request that is not in order; `secrets` are the signatures that it has issued, with what they sign. */
  refusal(
    body: Body,
    secrets: ReadonlyMap<string, string>,
    headers: Readonly<Record<string, unknown>>,
  ): Refused | undefined;
  segments(body: Body): readonly Segment[];
  /** `explicit`: it reads and writes at breakpoints alone. */
  readonly caching: 'prefix' | 'explicit';
  readonly contentType: string;
  frames(said: Said, counted: Counted, secret: string): readonly (string | Uint8Array)[];
}

const tokens = (text: string): number => Math.ceil(text.length / 4);

/** A server that stands for several vendors, each below the path of its own. */
export class Vendors {
  readonly #dialects: readonly Dialect[];
  readonly #server: Server;
  readonly #secrets = new Map<string, string>();
  readonly #written = new Map<string, string[]>();
  /** Answers still to come, in order; a refused request takes none. */
  readonly script: Said[] = [];
  readonly requests: { readonly path: string; readonly body: Body; status: number }[] = [];

  private constructor(dialects: readonly Dialect[]) {
    this.#dialects = dialects;
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () =>
        this.#answer(request.url ?? '', Buffer.concat(parts).toString(), request.headers, response),
      );
    });
  }

  static async start(dialects: readonly Dialect[]): Promise<Vendors> {
    const vendors = new Vendors(dialects);
    vendors.#server.listen(0, '127.0.0.1');
    await once(vendors.#server, 'listening');
    return vendors;
  }

  urlOf(provider: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${provider}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #answer(
    path: string,
    text: string,
    headers: Readonly<Record<string, unknown>>,
    response: ServerResponse,
  ): void {
    const dialect = this.#dialects.find(
      ({ provider, path: below }) => path === `/${provider}${below}`,
    );
    if (dialect === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{}}');
      return;
    }
    const body = JSON.parse(text) as Body;
    const record = { path, body, status: 200 };
    this.requests.push(record);
    const refused =
      dialect.refusal(body, this.#secrets, headers) ??
      (this.script[0]?.fault === 'busy' ? this.#busy(dialect) : undefined);
    if (refused !== undefined) {
      record.status = refused.status;
      response
        .writeHead(refused.status, { 'content-type': 'application/json', ...refused.headers })
        .end(JSON.stringify(refused.body));
      return;
    }
    const said = this.script.shift() ?? { text: 'nothing more to say' };
    if (said.fault === 'hang') {
      return;
    }
    const secret = `sig-${this.#secrets.size}-${'s'.repeat(40)}`;
    this.#secrets.set(secret, said.thinking ?? '');
    const counted = this.#count(dialect, body, said);
    response.writeHead(200, { 'content-type': dialect.contentType });
    dialect.frames(said, counted, secret).forEach((frame) => response.write(frame));
    response.end();
  }

  #busy(dialect: Dialect): Refused {
    this.script.shift();
    return dialect.busy;
  }

  /** Counts what the vendor would serve from its cache, and remembers this request for the next one. */
  #count(dialect: Dialect, body: Body, said: Said): Counted {
    const segments = dialect.segments(body);
    const whole = segments.map(({ text }) => text).join('');
    const written = this.#written.get(dialect.provider) ?? [];
    this.#written.set(dialect.provider, written);
    let cached = 0;
    if (dialect.caching === 'prefix') {
      cached = Math.max(0, ...written.map((other) => common(other, whole)));
      written.push(whole);
    } else {
      cached = Math.max(
        0,
        ...written.filter((other) => whole.startsWith(other)).map(({ length }) => length),
      );
      let prefix = '';
      for (const { text, marked } of segments) {
        prefix += text;
        if (marked === true) {
          written.push(prefix);
        }
      }
    }
    const output = `${said.thinking ?? ''}${said.text ?? ''}${JSON.stringify(said.calls ?? [])}`;
    return { input: tokens(whole), cached: Math.floor(cached / 4), output: tokens(output) };
  }
}

function common(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one[at] === other[at]) {
    at += 1;
  }
  return at;
}

export const sse = (data: object, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
