import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { openMetrics } from '../../plugins/metricsdb/open-metrics.ts';
import type { ThreadData } from '../../plugins/metricsdb/thread/contract.ts';

/** The thread of the plugin behind bare HTTP, in a process of its own: what it costs can be read off the process. */
const [folder] = process.argv.slice(2);
const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: console.error,
  error: console.error,
};
const data: ThreadData = {
  folder: folder!,
  store: {},
  query: {
    timeoutMs: 30_000,
    cpuMs: 30_000,
    maxSamples: 50_000_000,
    maxPoints: 11_000,
    maxAnswerBytes: 2 ** 30,
    atOnce: 4,
    lookbackMs: 300_000,
    delayedNameRemoval: false,
  },
  push: { maxPushBytes: 64 * 2 ** 20, aheadMs: 600_000 },
};
const { signal } = new AbortController();
const repeats: (() => unknown)[] = [];
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) {
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}

async function serve(): Promise<void> {
  const { methods } = await openMetrics({
    data,
    log,
    signal,
    now: Date.now,
    notify: () => undefined,
    every: (_ms, work) => {
      repeats.push(() => work(signal));
      return () => undefined;
    },
    after: () => () => undefined,
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    if (pathname === '/api/v1/write') {
      const input = { format: 'remote-write', body: await bodyOf(request), encoding: 'snappy' };
      const taken = (await methods['push']!(input, { signal })) as { rejected: number };
      response
        .writeHead(taken.rejected === 0 ? 204 : 400)
        .end(taken.rejected === 0 ? '' : JSON.stringify(taken));
    } else if (pathname === '/maintain') {
      await Promise.all(repeats.map((work) => work()));
      response.end(JSON.stringify(await methods['stats']!({}, { signal })));
    } else {
      const endpoint = pathname.slice('/api/v1/'.length);
      response.end(await methods['ask']!({ endpoint, pairs: [...searchParams] }, { signal }));
    }
  }

  const server = createServer(
    (request, response) =>
      void answer(request, response).catch((error: unknown) =>
        response.writeHead(500).end(String(error)),
      ),
  );
  server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));
}

void serve();
