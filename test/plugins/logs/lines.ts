/**
 * Returns a generator of log lines of four kinds in 40 streams, about 156 bytes each; deterministic
 * by seed.
 */
export function lineMaker(seed = 1): {
  next(): { stream: number; line: string };
  readonly streams: readonly Readonly<Record<string, string>>[];
} {
  let state = seed >>> 0 || 1;
  const random = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  const pick = <T>(list: readonly T[]): T => list[random() % list.length]!;
  const hex = (digits: number): string =>
    Array.from({ length: digits / 8 }, () => random().toString(16).padStart(8, '0')).join('');
  const paths = [
    '/api/v1/items',
    '/api/v1/users',
    '/login',
    '/static/app.js',
    '/healthz',
    '/api/v1/orders',
    '/search',
  ];
  const agents = [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
    'curl/8.5.0',
    'Go-http-client/2.0',
  ];
  const words = [
    'accepted',
    'refused',
    'retrying',
    'connected',
    'timed out',
    'completed',
    'started',
    'flushed',
    'evicted',
    'rebuilt',
  ];
  const levels = ['info', 'info', 'info', 'debug', 'warn', 'error'];
  const kinds: readonly (() => string)[] = [
    () =>
      `10.${random() % 256}.${random() % 256}.${random() % 256} - - [21/Nov/2026:10:${random() % 60}:${random() % 60} +0000] "GET ${pick(paths)}/${random() % 10_000} HTTP/1.1" ${pick([200, 200, 200, 304, 404, 500])} ${random() % 60_000} "-" "${pick(agents)}" 0.${random() % 1_000}`,
    () =>
      JSON.stringify({
        level: pick(levels),
        logger: 'http.server',
        msg: `request ${pick(words)}`,
        status: pick([200, 201, 404, 500]),
        latency_ms: (random() % 100_000) / 100,
        path: `${pick(paths)}/${random() % 5_000}`,
        trace_id: hex(32),
      }),
    () =>
      `level=${pick(levels)} ts=2026-11-21T10:00:${random() % 60}.${random() % 1_000}Z caller=worker.go:${random() % 900} msg="job ${pick(words)}" job=${random() % 100_000} took=${(random() % 10_000) / 1_000}s bytes=${random() % 1_000_000} attempt=1 component=scheduler queue=${pick(['mail', 'billing', 'index'])}`,
    () =>
      `Nov 21 10:${random() % 60}:${random() % 60} host${random() % 50} sshd[${random() % 32_768}]: ${pick(['Accepted publickey', 'Failed password', 'Connection closed by'])} for user${random() % 200} from 10.9.${random() % 256}.${random() % 256} port ${random() % 65_536} ssh2: session ${pick(words)} by pam_unix(sshd:session) ${hex(8)}`,
  ];
  const streams = Array.from({ length: 40 }, (_, index) => ({
    app: ['web', 'api', 'worker', 'sys'][index % 4]!,
    host: `host-${index >> 2}`,
    env: index % 3 === 0 ? 'dev' : 'prod',
  }));
  return {
    streams,
    next() {
      const stream = random() % streams.length;
      return { stream, line: kinds[stream % 4]!() };
    },
  };
}

/** Push bodies of Loki's JSON shape with `each` lines, ending at `endMs`, one line every `stepUs` microseconds. */
export function* pushBodies(
  count: number,
  { each = 500, endMs = 1_795_200_000_000, stepUs = 1_000, seed = 1 } = {},
): Generator<Buffer> {
  const maker = lineMaker(seed);
  let us = endMs * 1_000 - count * stepUs;
  for (let left = count; left > 0; left -= each) {
    const values = new Map<number, [string, string][]>();
    for (let i = 0; i < Math.min(each, left); i++) {
      const { stream, line } = maker.next();
      us += stepUs;
      const list = values.get(stream) ?? [];
      values.set(stream, list);
      list.push([`${us}${String((us * 7) % 1_000).padStart(3, '0')}`, line]);
    }
    yield Buffer.from(
      JSON.stringify({
        streams: [...values].map(([stream, list]) => ({
          stream: maker.streams[stream],
          values: list,
        })),
      }),
    );
  }
}
