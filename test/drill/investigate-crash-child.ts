import { appendFileSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import type { Incidents, IncidentView } from 'svc/contracts/alert';
import { startTestHost } from 'svc/testing';

const [folder, count, point, calls] = process.argv.slice(2) as [string, string, string, string];
const timeline = join(folder, 'timeline');
const file = openSync(timeline, 'a');
const firedAt = new Date(Date.now() - 120_000).toISOString();
let left = Number(calls);

/** Ends this process as a power cut does, when it comes to the point for so many times. */
const reach = (here: string): void => {
  if (here === point && (left -= 1) === 0) {
    process.kill(process.pid, 'SIGKILL');
  }
};

const incidentOf = (id: number): IncidentView =>
  ({
    id,
    rule_key: `rule-${id}`,
    rule_name: 'Slow',
    severity: 'critical',
    status: 'open',
    scope_type: 'global',
    scope_id: String(id),
    summary: 'slow',
    labels: { id: String(id) },
    annotations: {},
    dedupe_key: `slow:${id}`,
    event_count: 1,
    fired_at: firedAt,
    first_fired_at: firedAt,
  }) as unknown as IncidentView;

/** Incidents like those of the alert plugin: timeline entries are on disk, once for each firing. */
const incidents: Partial<Incidents> = {
  list: async () => Array.from({ length: Number(count) }, (_, at) => incidentOf(at + 1)),
  async get(id) {
    reach('begun');
    return incidentOf(id);
  },
  instances: async () => [],
  async measured() {
    reach('asked');
    return undefined;
  },
  async diagnose(id) {
    reach('stored');
    const lines = existsSync(timeline) ? readFileSync(timeline, 'utf8').split('\n') : [];
    if (!lines.includes(String(id))) {
      appendFileSync(file, `${id}\n`);
      fsyncSync(file);
    }
    reach('told');
  },
};

const house = await startTestHost(
  { after: () => undefined },
  {
    plugins: ['investigate'],
    dataDir: join(folder, 'data'),
    services: { 'alert.incidents': incidents },
    environment: { SVC_INVESTIGATE_MOST: '1000' },
  },
);
writeSync(1, `${house.url} ${house.token}\n`);
