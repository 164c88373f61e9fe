import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Connections that all hosts share, as behind a proxy: one for each would take as many again as their tunnels do. */
const mostConnections = 128;
const wholeMs = 60_000;
const mostAnswerBytes = 64 * 1024;
const kept = { keepAlive: true, maxSockets: mostConnections, timeout: wholeMs };

export interface Post {
  readonly manager: URL;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | Uint8Array;
  /** Breaks the connection off in the middle of the body. */
  readonly cut?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

/** Requests to a manager over connections that are kept. */
export class DataPlane {
  readonly #plain = new HttpAgent(kept);
  readonly #secure = new HttpsAgent(kept);

  post({ manager, path, headers, body, cut = false }: Post, signal?: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { hostname, port, protocol } = manager;
      const isSecure = protocol === 'https:';
      const to = {
        hostname: hostname.replaceAll(/[[\]]/g, ''),
        port: port === '' ? (isSecure ? 443 : 80) : port,
        protocol,
      };
      const options = {
        ...to,
        path,
        method: 'POST',
        agent: isSecure ? this.#secure : this.#plain,
        timeout: wholeMs,
        ...(signal && { signal }),
        headers: {
          ...headers,
          'content-length': String(body.length),
          'user-agent': 'svc-edge-sim',
        },
      };
      const request: ClientRequest = (isSecure ? httpsRequest : httpRequest)(
        options,
        (response) => void read(response).then(resolve, reject),
      );
      request.once('error', reject);
      request.once('timeout', () =>
        request.destroy(new Error(`no answer within ${wholeMs / 1_000} s`)),
      );
      if (cut) {
        request.write(body.subarray(0, body.length >> 1), () => request.socket?.resetAndDestroy());
      } else {
        request.end(body);
      }
    });
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

function read(response: IncomingMessage): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const after = Number(response.headers['retry-after']);
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => (text += text.length < mostAnswerBytes ? chunk : ''));
    response.once('error', reject);
    response.once('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        text,
        retryAfterMs: after > 0 ? Math.min(after, 600) * 1_000 : undefined,
      }),
    );
  });
}
