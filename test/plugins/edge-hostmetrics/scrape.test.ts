import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { describe, test, type TestContext } from 'node:test';

import { type OutboundReply, type OutboundRequest, SvcError } from 'svc/sdk';

import { scrapedSamples } from '../../../plugins/edge-hostmetrics/scrape/scraped-samples.ts';
import { Scraper } from '../../../plugins/edge-hostmetrics/scrape/scraper.ts';
import { reachOf } from '../../../plugins/edge-hostmetrics/scrape/target.ts';
import type { TargetSpec } from '../../../plugins/edge-hostmetrics/scrape/target-spec.ts';
import type { HostSpec } from '../../../plugins/edge-hostmetrics/spec.ts';
import { decoded, logbook, type Samples, specOf } from './box.ts';

const target = (url: string, wish: object = {}): TargetSpec =>
  specOf<HostSpec>('edge-hostmetrics', { targets: [{ job: 'app', url, ...wish }] }).targets[0]!;
const clock = { now: () => 1_000_000, monotonic: () => 5 };
const read = (text: string, openMetrics = false, maxSeries = 100) =>
  scrapedSamples(text, { maxSeries, openMetrics });

/** Requests a real server, without what the host's outbound gateway adds. */
const asked: OutboundRequest[] = [];
async function ask(url: string, request: OutboundRequest): Promise<OutboundReply> {
  asked.push(request);
  const reply = await fetch(url, { headers: { ...request.headers } });
  const body = new Uint8Array(await reply.arrayBuffer());
  if (body.length > request.maxBytes!) {
    throw new SvcError('upstream_error', `the answer is longer than ${request.maxBytes} bytes`);
  }
  return { status: reply.status, headers: Object.fromEntries(reply.headers), body, url };
}

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/metrics`;
}

const scrape = async (
  spec: TargetSpec,
  log = logbook(),
  allowed: readonly string[] = [],
): Promise<Samples> =>
  decoded(
    await new Scraper(spec, { fetch: ask, clock, allowed: () => allowed }, log).scrape(
      new AbortController().signal,
    ),
  );

describe('an endpoint of this machine', () => {
  test('is scraped with its own labels kept, ours added, and whether it was up', async (t) => {
    const url = await serve(t, (_request, reply) =>
      reply.end('# TYPE a counter\na{job="own",x="1\\n\\"2\\""} 3\nb 4 123000\n'),
    );
    const samples = await scrape(target(url, { labels: { team: 'blue' } }));
    const instance = new URL(url).host;
    const key = (name: string, rest = ''): string =>
      `${name}{${rest === 'own' ? 'exported_job="own",' : ''}instance="${instance}",job="app",team="blue"${rest === 'own' ? ',x="1\\n\\"2\\""' : ''}}`;
    assert.deepEqual(samples.get(key('a', 'own')), { value: 3, time: 1_000_000 });
    assert.deepEqual(samples.get(key('b')), { value: 4, time: 123_000 });
    assert.equal(samples.get(key('up'))!.value, 1);
    assert.equal(samples.get(key('scrape_samples_scraped'))!.value, 2);
    assert.deepEqual(
      [asked.at(-1)!.reach, asked.at(-1)!.timeoutMs, asked.at(-1)!.maxBytes],
      ['loopback', 10_000, 4_194_304],
    );
    assert.match(asked.at(-1)!.headers!['accept']!, /openmetrics/);
  });

  test('that fails, lies or says too much is down, and nothing of its answer is taken', async (t) => {
    const answers: readonly (readonly [RegExp, object, RequestListener])[] = [
      [/status 500/, {}, (_request, reply) => reply.writeHead(500).end('a 1\n')],
      [/Line 2 .*is not a value/, {}, (_request, reply) => reply.end('a 1\nb x\n')],
      [
        /more than 3 series/,
        { max_series: 3 },
        (_request, reply) => reply.end('a 1\nb 1\nc 1\nd 1\n'),
      ],
      [
        /longer than 1024/,
        { max_bytes: 1024, timeout: '2s' },
        (_request, reply) => reply.end('a 1\n'.repeat(1000)),
      ],
      [
        /does not end with # EOF/,
        {},
        (_request, reply) =>
          reply
            .setHeader('content-type', 'application/openmetrics-text; version=1.0.0')
            .end('a 1\n'),
      ],
    ];
    for (const [cause, wish, answer] of answers) {
      const log = logbook();
      const samples = await scrape(target(await serve(t, answer), wish), log);
      assert.deepEqual(
        [...samples.keys()].map((key) => key.split('{')[0]),
        ['up', 'scrape_duration_seconds', 'scrape_samples_scraped'],
      );
      assert.equal([...samples.values()][0]!.value, 0);
      assert.match(log.lines.join(), cause);
    }
    assert.ok(asked.some(({ timeoutMs }) => timeoutMs === 2_000));
  });

  test('elsewhere is asked only when the policy of this machine lists it', async () => {
    assert.equal(reachOf('http://localhost:9100/metrics', []), 'loopback');
    assert.equal(reachOf('http://[::1]/metrics', []), 'loopback');
    assert.equal(reachOf('https://db.internal/metrics', ['db.internal:443']), 'configured');
    for (const url of [
      'http://10.0.0.1:9100/',
      'http://169.254.169.254/',
      'http://127.0.0.1.evil.example/',
      'http://localhost.evil.example/',
      'http://db.internal:80/',
    ]) {
      assert.throws(() => reachOf(url, ['db.internal:443']), { code: 'forbidden' }, url);
    }
    assert.throws(() => reachOf('http://user:pass@localhost/', []), { code: 'invalid_argument' });
    const log = logbook();
    const samples = await scrape(target('http://10.0.0.1:9100/metrics'), log);
    assert.equal([...samples.values()][0]!.value, 0);
    assert.match(
      log.lines.join(),
      /this machine's policy does not allow it; .+"10\.0\.0\.1:9100\\?" to \\?"tcp\\?" in policy\.yaml/,
    );
  });
});

describe('the text of an exporter', () => {
  test('is read in both formats, with odd names, odd numbers, times and exemplars', () => {
    assert.deepEqual(
      read('a{}  +Inf\n  b -3e-2 \r\nc NaN 5\n{"d.e",f="g"} 0x1Fp0\n').map(
        ({ name, labels, value, time }) => [name, labels, value, time],
      ),
      [
        ['a', [], Infinity, undefined],
        ['b', [], -0.03, undefined],
        ['c', [], NaN, 5],
        ['d.e', ['f', 'g'], 31, undefined],
      ],
    );
    const [bucket] = read('h_bucket{le="1"} 5 1.5 # {trace="x # y"} 0.3 1.4\n# EOF\n', true);
    assert.deepEqual(bucket, { name: 'h_bucket', labels: ['le', '1'], value: 5, time: 1500 });
    assert.deepEqual(read('a{b="} # {",c="\\\\n"} 1')[0]!.labels, ['b', '} # {', 'c', '\\n']);
  });

  test('of a stranger is refused where it is no such text, whatever it looks like', () => {
    const wrong = [
      'a',
      'a b',
      '1a 2',
      'a{b} 1',
      'a{b="c} 1',
      'a{b="c" d="e"} 1',
      'a{"x"} 1',
      '{b="c"} 1',
      'a 1 2 3',
      'a 1 -5',
      'a{1b="c"} 1',
      'a 1 1e999',
      '{"a","b"} 1',
      'a 0x',
    ];
    for (const text of wrong) {
      assert.throws(() => read(`ok 1\n${text}\n`), /Line 2 of the response/, text);
    }
    assert.throws(
      () => read(`a{${Array.from({ length: 65 }, (_, i) => `l${i}="x"`).join(',')}} 1`),
      /too many labels/,
    );
    assert.throws(() => read(`a{b="${'x'.repeat(5000)}"} 1`), /longer than 4096/);
    assert.throws(() => read(`${'a'.repeat(300)} 1`), /too long/);
    assert.throws(() => read('# EOF\na 1\n', true), /behind # EOF/);
    assert.deepEqual(read('__proto__ 1\n')[0]!.name, '__proto__');
  });
});
