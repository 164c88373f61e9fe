import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { type Parcel, parcels } from '../bench/front-bodies.ts';
import type { Outcome, Row } from '../exercise.ts';
import { password } from '../trust/household.ts';
import { pushBodies } from '../plugins/logs/lines.ts';
import { edge, productWithEdges, startWholeHouse, type WholeHouse } from '../whole-house.ts';

const tickSeconds = 5;
const deadlineMs = 30_000;
const mostAnswerMs = 300;
const mostPushMs = 250;
/** A request that arrives as the deadline passes, and its answer on its way back. */
const slackMs = 1_500;

interface Answer {
  readonly status: number;
  readonly ms: number;
}

interface Load {
  readonly path: string;
  readonly search: Readonly<Record<string, string>>;
}

interface Room {
  readonly room: Parcel['signal'];
  readonly worst: readonly Load[];
  /** Load of another person meanwhile. */
  readonly small: Load;
  readonly pushes: readonly Parcel[];
}

/**
 * One viewer asks the worst there is, `readers` at a time, of one store after the other: alerting keeps its pace, another
 * person and every push are served as ever, and each of those queries ends or is refused within its deadline.
 */
export async function run({
  seconds = 600,
  readers = 64,
  series = 100_000,
  lines = 300_000,
  spans = 100_000,
}: {
  readonly seconds?: number;
  readonly readers?: number;
  readonly series?: number;
  readonly lines?: number;
  readonly spans?: number;
} = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-heavy-'));
  const house = await startWholeHouse({
    dataDir: join(folder, 'data'),
    product: productWithEdges(join(folder, 'product')),
    environment: { SVC_ALERT_EVAL_INTERVAL: `${tickSeconds}s` },
  });
  try {
    await addRules(house);
    const now = Date.now();
    await fill(house, { series, lines, spans }, now);
    const token = { heavy: await viewer(house, 'heavy'), other: await viewer(house, 'other') };
    const cases: Row[] = [];
    for (const { room, worst, small, pushes } of roomsOf(now)) {
      const until = performance.now() + (seconds * 1_000) / 3;
      const [heavy, asked, pushed, alerts] = await Promise.all([
        Promise.all(
          Array.from({ length: readers }, (_, at) =>
            reader(house, token.heavy, worst, { until, at }),
          ),
        ),
        asker(house, token.other, small, until),
        pusher(house, pushes, until),
        watchAlerts(house, until),
      ]);
      const found = summary(heavy.flat(), asked, pushed);
      cases.push({
        room,
        ...found,
        ...alerts,
        ok: found['ok'] === true && alerts['alerts on time'] === true,
      });
    }
    return { ok: cases.every(({ ok }) => ok === true), seconds, readers, rooms: cases };
  } finally {
    await house.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** When the traces of the bench ended. */
const tracesEnd = 1_795_200_060;
const all = '{__name__=~".+"}';

function roomsOf(nowMs: number): readonly Room[] {
  const now = nowMs / 1_000;
  const window = (
    queries: readonly string[],
    path: string,
    name: string,
    spanSeconds: number,
    step: number,
    end = now,
  ): Load[] =>
    queries.map((query) => ({
      path,
      search: {
        [name]: query,
        start: String(Math.round(end - spanSeconds)),
        end: String(Math.round(end)),
        step: String(step),
      },
    }));
  const fresh = parcels({ samples: 2_000, lines: 1_000, spans: 500 }, 1, nowMs + 10_000);
  return [
    {
      room: 'metrics',
      worst: [
        ...window(
          [
            'sum_over_time(vector(1)[1d:1s])',
            'quantile_over_time(0.9, vector(time())[6h:1s])',
            'stddev_over_time(vector(1)[12h:1s])',
          ],
          '/prometheus/api/v1/query_range',
          'query',
          11_000,
          1,
        ),
        ...window(
          [
            `sum by (instance) (rate(${all}[5m]))`,
            `topk(5, ${all})`,
            `quantile(0.5, ${all} * 2)`,
            all,
          ],
          '/prometheus/api/v1/query_range',
          'query',
          3_600,
          15,
        ),
        {
          path: '/prometheus/api/v1/query',
          search: {
            query: `count by (__name__) (label_replace(${all}, "x", "$1", "instance", "(.*)"))`,
          },
        },
        { path: '/prometheus/api/v1/series', search: { 'match[]': all } },
        {
          path: '/prometheus/api/v1/query',
          search: { query: 'mad_over_time(vector(time())[40d:1s])' },
        },
      ],
      small: { path: '/prometheus/api/v1/query', search: { query: '1' } },
      pushes: fresh.metrics,
    },
    {
      room: 'logs',
      worst: window(
        [
          'sum by (level, queue) (count_over_time({app=~".+"} | logfmt | bytes > 500000 [5m]))',
          'sum by (status) (rate({app="api"} | json | latency_ms > 10 [1m]))',
          'quantile_over_time(0.99, {app="api"} | json | unwrap latency_ms [5m]) by (path)',
          '{app=~".+"} |~ "(a|b)+c.*d(e|f)+g"',
          '{app=~".+"} | pattern "<a> <b> <c> <d>" | line_format "{{.d}}{{.c}}" |~ "x+y+z"',
        ],
        '/loki/api/v1/query_range',
        'query',
        3_600,
        15,
      ),
      small: { path: '/loki/api/v1/query', search: { query: 'vector(1)' } },
      pushes: fresh.logs,
    },
    {
      room: 'traces',
      worst: [
        ...window(
          [
            '{ } | quantile_over_time(duration, .5, .9, .99) by (name)',
            '{ } >> { } | rate() by (resource.service.name)',
            '{ } ~ { } ~ { } | count_over_time()',
          ],
          '/tempo/api/metrics/query_range',
          'q',
          3_600,
          15,
          tracesEnd,
        ),
        ...window(
          ['{ } >> { } >> { } >> { }', '{ name =~ "(a|aa)+b" }', '{ } | by(name) | count() > 1000'],
          '/tempo/api/search',
          'q',
          3_600,
          15,
          tracesEnd,
        ),
      ],
      small: {
        path: '/tempo/api/search',
        search: {
          q: '{ name = "none" }',
          limit: '1',
          start: String(tracesEnd - 1),
          end: String(tracesEnd),
        },
      },
      pushes: fresh.traces,
    },
  ];
}

/** Requests continuously, pausing only when refused. */
async function reader(
  house: WholeHouse,
  token: string,
  worst: readonly Load[],
  { until, at }: { readonly until: number; readonly at: number },
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let next = at; performance.now() < until; next++) {
    const answer = await ask(house, token, worst[next % worst.length]!);
    answers.push(answer);
    await (answer.status === 429 && pause(500));
  }
  return answers;
}

async function asker(
  house: WholeHouse,
  token: string,
  small: Load,
  until: number,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (performance.now() < until) {
    answers.push(await ask(house, token, small));
    await pause(100);
  }
  return answers;
}

async function pusher(
  house: WholeHouse,
  pushes: readonly Parcel[],
  until: number,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let next = 0; performance.now() < until; next++) {
    answers.push(await delivered(house, pushes[next % pushes.length]!));
    await pause(100);
  }
  return answers;
}

/** Watches the reported starts of evaluation cycles, and their failures. */
async function watchAlerts(house: WholeHouse, until: number): Promise<Row> {
  const cycles = new Map<
    string,
    { readonly failed: number; readonly missed: number; readonly ms: number }
  >();
  while (performance.now() < until) {
    const answer = await house.fetch('/api/v1/alerts/runtime-info');
    const { last_cycle: last } = (await answer.json()) as {
      last_cycle: { started_at: string; rules_failed: number; missed: number; duration_ms: number };
    };
    cycles.set(last.started_at, {
      failed: last.rules_failed,
      missed: last.missed,
      ms: last.duration_ms,
    });
    await pause(500);
  }
  const starts = [...cycles.keys()].map((time) => Date.parse(time));
  const gaps = starts.slice(1).map((time, at) => (time - starts[at]!) / 1_000);
  const all = [...cycles.values()];
  return {
    cycles: cycles.size,
    'longest from cycle to cycle, s': Math.max(0, ...gaps),
    'longest cycle, ms': Math.round(Math.max(0, ...all.map(({ ms }) => ms))),
    'rules failed': all.reduce((sum, { failed }) => sum + failed, 0),
    'cycles missed': all.at(-1)?.missed ?? 0,
    'alerts on time':
      gaps.every((gap) => gap <= 2 * tickSeconds) && all.every(({ failed }) => failed === 0),
  };
}

function summary(
  heavy: readonly Answer[],
  asked: readonly Answer[],
  pushed: readonly Answer[],
): Row {
  const of = (...statuses: readonly number[]): number =>
    heavy.filter(({ status }) => statuses.includes(status)).length;
  const slowest = Math.max(...heavy.map(({ ms }) => ms));
  const small = { p99: p99(asked), failed: asked.filter(({ status }) => status !== 200).length };
  const push = { p99: p99(pushed), failed: pushed.filter(({ status }) => status >= 300).length };
  return {
    ok:
      slowest <= deadlineMs + slackMs &&
      small.p99 < mostAnswerMs &&
      small.failed === 0 &&
      push.p99 < mostPushMs &&
      push.failed === 0,
    'heavy answered': of(200),
    'refused as too large': of(400, 422),
    'told to come back': of(429),
    'timed out': of(503, 504),
    others: heavy.length - of(200, 400, 422, 429, 503, 504),
    'slowest end, s': Math.round(slowest / 100) / 10,
    'small p99, ms': small.p99,
    'small failed': small.failed,
    'push p99, ms': push.p99,
    'push failed': push.failed,
  };
}

function p99(answers: readonly Answer[]): number {
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  return Math.round(times[Math.floor(times.length * 0.99)] ?? Infinity);
}

const connections = new Agent({ keepAlive: true });

/** Requests a path; the answer is read and discarded. */
function ask(house: WholeHouse, token: string, { path, search }: Load): Promise<Answer> {
  return sent(`${house.url}${path}?${new URLSearchParams(search).toString()}`, {
    authorization: `Bearer ${token}`,
  });
}

const delivered = async (house: WholeHouse, { path, headers, body }: Parcel): Promise<Answer> =>
  await sent(house.url + path, headers, body);

function sent(
  url: string,
  headers: Readonly<Record<string, string>>,
  body?: Uint8Array,
): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const asking = request(
      url,
      { agent: connections, method: body === undefined ? 'GET' : 'POST', headers },
      (answer) => {
        answer
          .resume()
          .on('end', () => resolve({ status: answer.statusCode!, ms: performance.now() - began }));
      },
    );
    asking.on('error', reject).end(body);
  });
}

async function viewer(house: WholeHouse, name: string): Promise<string> {
  const email = `${name}@example.org`;
  const post = async (path: string, body: object): Promise<{ access_token: string }> => {
    const answer = await house.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) {
      throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    }
    return (await answer.json()) as { access_token: string };
  };
  await post('/api/v1/users', { email, display_name: name, role: 'viewer', password });
  return (await post('/api/v1/auth/login', { email, password })).access_token;
}

async function fill(
  house: WholeHouse,
  { series, lines, spans }: Readonly<Record<'series' | 'lines' | 'spans', number>>,
  nowMs: number,
): Promise<void> {
  // Each series is in a round of half a second; a second has two of them. Lines need whole microseconds between them.
  const { metrics, traces } = parcels({ samples: series * 2, lines: 500, spans }, 1, nowMs - 1_000);
  const push = {
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json', authorization: edge(1) },
  };
  const logs = [...pushBodies(lines, { each: 2_000, endMs: nowMs, stepUs: 1_000 })].map((body) => ({
    signal: 'logs' as const,
    ...push,
    body,
    count: 2_000,
  }));
  for (const parcel of [...metrics, ...logs, ...traces]) {
    const { status } = await delivered(house, parcel);
    if (status >= 300) {
      throw new Error(`${parcel.path} answered ${status}`);
    }
  }
}

async function addRules(house: WholeHouse): Promise<void> {
  const rule = {
    source_type: 'svc_builtin',
    scope_type: 'global',
    join_mode: 'all',
    severity: 'warning',
  };
  const conditions = {
    metric_raw: { expr: 'vector(time()) > 0' },
    log_volume: { expr: 'sum(count_over_time({app="none"}[1m])) > 0' },
  };
  for (const [kind, condition] of Object.entries(conditions)) {
    const answer = await house.fetch('/api/v1/alert-rules', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...rule,
        rule_key: `drill_${kind}`,
        name: kind,
        kind,
        conditions: [condition],
      }),
    });
    if (!answer.ok) {
      throw new Error(`a rule of kind ${kind} was refused: ${await answer.text()}`);
    }
  }
}
