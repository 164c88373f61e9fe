import { request } from 'node:http';

import type { LocalPolicy } from 'svc/contracts/edge-uplink';
import { messageOf } from 'svc/sdk';

import { errors } from '../errors.ts';
import { plainText } from '../fit-rows.ts';

/** Body of an answer, and whether it was cut at its limit. */
interface Answer {
  readonly status: number;
  readonly body: Buffer;
  readonly cut: boolean;
}

const maxBytes = 8 * 1024 * 1024;

/**
 * The container engine of this machine, by the API that Docker and Podman share. It is only ever
 * asked with GET, over the sockets that the policy lists; the first that answers is the engine.
 */
export class ContainerEngine {
  readonly #policy: LocalPolicy;

  constructor(policy: LocalPolicy) {
    this.#policy = policy;
  }

  async json(path: string, signal: AbortSignal): Promise<unknown> {
    const { body, cut } = await this.bytes(path, signal, maxBytes);
    if (cut) {
      throw errors.engine_large({ maxBytes });
    }
    try {
      return JSON.parse(body.toString('utf8')) as unknown;
    } catch (error) {
      throw errors.engine_answer({ cause: messageOf(error) }, { cause: error });
    }
  }

  async bytes(
    path: string,
    signal: AbortSignal,
    most: number,
  ): Promise<{ readonly body: Buffer; readonly cut: boolean }> {
    const tried: string[] = [];
    for (const socketPath of this.#policy.current().skills.containers) {
      const answer = await get(socketPath, path, signal, most).catch((error: unknown) => {
        signal.throwIfAborted();
        tried.push(`${socketPath} (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`);
      });
      if (answer?.status === 404) {
        throw errors.no_container({ container: containerIn(path) });
      }
      if (answer !== undefined && answer.status !== 200) {
        const said = plainText(answer.body.toString('utf8')).slice(0, 300);
        throw errors.engine_refused({ status: `${answer.status}`, said });
      }
      if (answer !== undefined) {
        return answer;
      }
    }
    throw errors.no_engine({ tried: tried.join(', ') || 'the policy lists no socket' });
  }
}

const containerIn = (path: string): string =>
  decodeURIComponent(/^\/containers\/([^/?]+)/.exec(path)?.[1] ?? path);

function get(socketPath: string, path: string, signal: AbortSignal, most: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      socketPath,
      path,
      method: 'GET',
      agent: false,
      signal,
      headers: { host: 'localhost', accept: 'application/json', 'user-agent': 'svc' },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const done = (cut: boolean): void => {
        resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks), cut });
        outgoing.destroy();
      };
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, most - bytes));
        bytes += chunk.length;
        if (bytes > most) {
          done(true);
        }
      });
      incoming.once('error', reject);
      incoming.once('end', () => done(false));
    });
    outgoing.end();
  });
}
