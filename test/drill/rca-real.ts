import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome, Row } from '../exercise.ts';
import { startWholeHouse, type WholeHouse } from '../whole-house.ts';
import type { Ends } from './alert-prometheus-units.ts';
import { type Fault, faults } from './rca-real-faults.ts';
import { isFree, lacking, ports, services, Stand } from './rca-real-stand.ts';

/** Rules as people write them: each about what they notice, none about a cause. */
const rules = [
  {
    alert: 'HighErrorRate',
    expr: 'sum by (job, route) (rate(http_request_duration_seconds_count{status_code=~"5.."}[1m])) / sum by (job, route) (rate(http_request_duration_seconds_count[1m])) > 0.05',
    for: '30s',
  },
  {
    alert: 'HighLatency',
    expr: 'histogram_quantile(0.95, sum by (job, route, le) (rate(http_request_duration_seconds_bucket[1m]))) > 0.5',
    for: '30s',
  },
  { alert: 'ProbeFailed', expr: 'probe_success == 0', for: '30s' },
  { alert: 'TargetDown', expr: 'up == 0', for: '30s' },
];
const ruleFile = JSON.stringify({ groups: [{ name: 'shop', interval: '5s', rules }] });

/** Requests a second that come in from outside. */
const requestsPerSecond = 15;
const answerSeconds = 20;
const fireMs = 240_000;
const quietMs = 60_000;
const goal = 10;
const notLent = 'not lent by this kernel';

interface Incident {
  readonly id: number;
  readonly rule: string;
  readonly resolved_at: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly last_fired_at: string;
}

interface Report {
  readonly created_at: string;
  readonly status: string;
  readonly verdict: string | null;
  readonly root_cause: { readonly node: { readonly name: string }; readonly text: string } | null;
  readonly hypotheses: readonly {
    readonly node: { readonly name: string };
    readonly text: string;
  }[];
  readonly confidence: { readonly value: number } | null;
  readonly summary: string;
}

/**
 * Breaks real services, one after another, that real exporters measure and a real Prometheus writes to svc; where people come in an alert
 * fires, and its report must name what was broken within 20 seconds, without a model. `folder` keeps what was measured for the next run, which needs
 * less to warm up; `only` takes names of faults, `keep` a folder for the reports.
 */
export async function run({
  warm = 15,
  rest = 120,
  only = '',
  folder = '',
  keep = '',
}: {
  /** Minutes of history before the first fault. */
  readonly warm?: number;
  /** Seconds of quiet between faults. */
  readonly rest?: number;
  readonly only?: string;
  readonly folder?: string;
  readonly keep?: string;
} = {}): Promise<Outcome> {
  const missing = lacking();
  if (missing.length > 0) {
    return { ok: false, why: `apt-get install ${missing.join(' ')}` };
  }
  if (process.getuid?.() !== 0) {
    return { ok: false, why: 'Faults of the kernel need root.' };
  }
  await isFree();
  const place = folder === '' ? mkdtempSync(join(tmpdir(), 'svc-rca-real-')) : folder;
  const ends: (() => unknown)[] = [];
  try {
    return await Promise.race([
      drill({ after: (end) => void ends.unshift(end) }, place, { warm, rest, only, keep }),
      stopped(),
    ]);
  } finally {
    for (const end of ends) {
      await end();
    }
    if (folder === '') {
      rmSync(place, { recursive: true, force: true });
    }
  }
}

/** Nothing of the stand stays behind when somebody stops the drill. */
const stopped = (): Promise<never> =>
  new Promise((_, reject) =>
    ['SIGINT', 'SIGTERM'].forEach((signal) =>
      process.once(signal, () => reject(new Error(`stopped by ${signal}`))),
    ),
  );

interface Plan {
  readonly warm: number;
  readonly rest: number;
  readonly only: string;
  readonly keep: string;
}

async function drill(t: Ends, place: string, { warm, rest, only, keep }: Plan): Promise<Outcome> {
  const stand = new Stand(t, place);
  await stand.start();
  const house = await startWholeHouse({
    dataDir: join(place, 'svc'),
    environment: {
      SVC_ALERT_EVAL_INTERVAL: '5s',
      SVC_INVESTIGATE_MOST_PER_RULE: '1000',
      SVC_INVESTIGATE_MOST: '10000',
      SVC_INVESTIGATE_MOST_PER_PERSON: '1000',
    },
  });
  t.after(() => house.end());
  await asked(house, '/api/v1/alert-rules/import', { content: ruleFile });
  await stand.startPrometheus(house);
  t.after(visit());
  console.log(`${new Date().toISOString()} warms up for ${warm} minutes`);
  await pause(warm * 60_000);
  await quiet(house);
  const rows: Row[] = [];
  for (const fault of faults.filter(({ name }) => only === '' || only.includes(name))) {
    const row = await drilled(fault, { stand, house, keep });
    console.log(new Date().toISOString(), JSON.stringify(row));
    rows.push(row);
    await pause(rest * 1_000);
    await quiet(house);
  }
  const right = rows.filter(({ answer }) => answer === 'right').length;
  const lent = rows.filter(({ answer }) => answer !== notLent).length;
  return { ok: right >= Math.min(goal, lent), right, lent, faults: rows };
}

/** Visitors of the shop, who come whatever they are answered. */
function visit(): () => void {
  const pages = services.filter((name) => name !== 'shop' && name !== 'payments');
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    const url = `http://127.0.0.1:${ports.front}/${pages[count % pages.length]}`;
    fetch(url, { signal: AbortSignal.timeout(6_000) })
      .then((response) => response.arrayBuffer())
      // A visitor who is not answered goes away.
      .catch(() => undefined);
  }, 1_000 / requestsPerSecond);
  return () => clearInterval(timer);
}

interface Around {
  readonly stand: Stand;
  readonly house: WholeHouse;
  readonly keep: string;
}

async function drilled(fault: Fault, { stand, house, keep }: Around): Promise<Row> {
  const { name } = fault;
  const begun = Date.now();
  if (!(await fault.inject(stand))) {
    return { fault: name, answer: notLent };
  }
  try {
    const incident = await firedAfter(house, begun);
    if (incident === undefined) {
      return { fault: name, answer: 'no alert' };
    }
    const fired = Date.parse(incident.last_fired_at);
    const report = await reportOn(house, incident.id, fired);
    const seconds = (Date.now() - fired) / 1_000;
    if (keep !== '') {
      writeFileSync(join(keep, `${name.replaceAll(' ', '-')}.json`), JSON.stringify(report));
    }
    const { root_cause: cause } = report;
    const isNamed =
      cause !== null &&
      fault.nodes
        .map((node) => (node === 'host' ? hostname() : node))
        .includes(cause.node.name.toLowerCase()) &&
      fault.words.test(`${cause.text} ${report.summary}`);
    return {
      fault: name,
      alert: `${incident.rule} ${incident.labels['route'] ?? ''}`,
      'fires after': Math.round((fired - begun) / 1_000),
      answer: isNamed && seconds <= answerSeconds ? 'right' : 'wrong',
      seconds: Math.round(seconds * 10) / 10,
      verdict: report.verdict ?? report.status,
      confidence: report.confidence?.value ?? 0,
      told: cause?.text ?? report.summary,
    };
  } finally {
    await fault.mend(stand);
  }
}

/** The first incident where people come in: of the shop, or of the proxy before it. */
async function firedAfter(house: WholeHouse, begun: number): Promise<Incident | undefined> {
  for (const deadline = Date.now() + fireMs; Date.now() < deadline; await pause(500)) {
    const fired = (await incidents(house)).find(
      ({ last_fired_at: at, resolved_at: resolved, labels }) =>
        Date.parse(at) > begun &&
        resolved === null &&
        (labels['job'] === 'shop' || labels['service'] === 'nginx'),
    );
    if (fired !== undefined) {
      return fired;
    }
  }
  return undefined;
}

/** The report on this firing. An incident that has fired before within a day is investigated when somebody asks. */
async function reportOn(house: WholeHouse, incident: number, fired: number): Promise<Report> {
  const path = `/api/v1/alerts/incidents/${incident}/investigation`;
  await asked(house, path, {});
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await pause(200)) {
    const report = await asked<Report>(house, path);
    if (
      Date.parse(report.created_at) >= fired &&
      ['ready', 'failed', 'skipped'].includes(report.status)
    ) {
      return report;
    }
  }
  throw new Error(`the investigation of incident ${incident} does not end`);
}

/** Waits until no rule fires any more, so that the next fault is the only one; what nothing is heard of any more is resolved by hand. */
async function quiet(house: WholeHouse): Promise<void> {
  for (const deadline = Date.now() + quietMs; ; await pause(2_000)) {
    const open = (await incidents(house)).filter(({ resolved_at: at }) => at === null);
    if (open.length === 0) {
      return;
    }
    if (Date.now() > deadline) {
      for (const { id } of open) {
        await asked(house, `/api/v1/alerts/incidents/${id}/resolve`, {});
      }
    }
  }
}

async function incidents(house: WholeHouse): Promise<readonly Incident[]> {
  const { items } = await asked<{ readonly items: readonly Incident[] }>(
    house,
    '/api/v1/alerts/incidents?limit=100',
  );
  return items;
}

async function asked<T>(house: WholeHouse, path: string, body?: object): Promise<T> {
  const response = await house.fetch(path, {
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${path} was answered ${response.status}: ${text.slice(0, 500)}`);
  }
  return JSON.parse(text) as T;
}
