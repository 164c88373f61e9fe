import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import Database from 'better-sqlite3';

import type { WholeHouse } from '../whole-house.ts';
import { changedOnPurpose } from '../on-purpose.ts';

/** Lines of one push. */
const mostLines = 20_000;
/** Incidents of one rule. */
const lot = 500;

/** Devices as if so many hosts had been added and were silent now; written while svc is down. */
export function writeDevices(dataDir: string, devices: number): void {
  const database = new Database(join(dataDir, 'svc.db'));
  const now = Date.now();
  const device = database.prepare(`INSERT INTO device_devices
    (machine_uuid, hostname, os, os_version, arch, kernel_version, ip_address, cpu_count, mem_total_bytes, disk_total_bytes, tags, roles, last_seen_at, created_at, updated_at)
    VALUES (?, ?, 'linux', 'Debian 13', 'x86_64', '6.12', ?, 8, 34359738368, 512000000000, ?, '["web"]', ?, ?, ?)`);
  const tag = database.prepare('INSERT INTO device_tags (device_id, key, value) VALUES (?, ?, ?)');
  const role = database.prepare('INSERT INTO device_roles (device_id, role) VALUES (?, ?)');
  const edge = database.prepare(`INSERT INTO edge_edges
    (name, description, labels, access_key, device_id, created_by, created_at, updated_at) VALUES (?, '', '{}', ?, ?, 'bench', ?, ?)`);
  const bound = database.prepare(
    'INSERT INTO device_edges (edge_id, device_id, machine_uuid, bound_at) VALUES (?, ?, ?, ?)',
  );
  database.transaction(() => {
    for (let number = 1; number <= devices; number += 1) {
      const [name, machine, place] = [
        hostName(number),
        `machine-${number}`,
        places[number % places.length]!,
      ];
      const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
      const id = device.run(
        machine,
        name,
        address,
        JSON.stringify({ place }),
        now - number,
        now,
        now,
      ).lastInsertRowid;
      tag.run(id, 'place', place);
      role.run(id, 'web');
      bound.run(
        edge.run(name, `svc_ak_bench_${number}`, id, now, now).lastInsertRowid,
        id,
        machine,
        now,
      );
    }
  })();
  database.close();
  changedOnPurpose(dataDir);
}

const places = ['berlin', 'lisbon', 'osaka', 'quito', 'nairobi'];

export const hostName = (number: number): string =>
  `${places[number % places.length]!}-web-${String(number).padStart(6, '0')}`;

/** Raises the limit of series, for a fleet that large. */
export async function letIn(house: WholeHouse, series: number): Promise<void> {
  const answer = await house.fetch('/api/v1/system-settings/metricsdb/max_series', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ value: Math.max(250_000, series) }),
  });
  if (!answer.ok) {
    throw new Error(`the bound of series was not raised: ${answer.status} ${await answer.text()}`);
  }
}

/** Pushes what every device measures at this moment, and one more series for each incident. */
export async function pushFigures(
  house: WholeHouse,
  devices: number,
  incidents: number,
): Promise<void> {
  const lines = Array.from({ length: devices }, (_, at) => {
    const labels = `{device_id="${at + 1}",instance="${hostName(at + 1)}"}`;
    return [
      `node_cpu_usage_percent${labels} ${(at * 7) % 97}`,
      `node_memory_used_percent${labels} ${(at * 13) % 89}`,
      `node_load1${labels} ${(at % 40) / 10}`,
    ];
  }).flat();
  const hot = Array.from(
    { length: incidents },
    (_, at) =>
      `bench_hot{device_id="${(at % devices) + 1}",instance="${hostName((at % devices) + 1)}",part="${at}",lot="${Math.floor(at / lot)}"} 1`,
  );
  await push(house, [...lines, ...hot]);
}

/** Pushes this many lines of a chart with this many points each, up to now. */
export async function pushLines(
  house: WholeHouse,
  { lines, points, stepMs }: Lines,
): Promise<void> {
  const end = Math.floor(Date.now() / stepMs) * stepMs;
  await push(
    house,
    Array.from({ length: lines }, (_, line) =>
      Array.from({ length: points }, (_unused, at) =>
        sampleOf(line, end - (points - 1 - at) * stepMs),
      ),
    ).flat(),
  );
}

export interface Lines {
  readonly lines: number;
  readonly points: number;
  readonly stepMs: number;
}

export const sampleOf = (line: number, at: number): string =>
  `bench_line{line="${String(line).padStart(2, '0')}"} ${(50 + line + 20 * Math.sin(at / 90_000 + line)).toFixed(3)} ${at}`;

export async function push(house: WholeHouse, lines: readonly string[]): Promise<void> {
  for (let from = 0; from < lines.length; from += mostLines) {
    const body = `${lines.slice(from, from + mostLines).join('\n')}\n`;
    const answer = await house.fetch('/api/v1/import/prometheus', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body,
    });
    if (!answer.ok) {
      throw new Error(
        `a push was refused: ${answer.status} ${(await answer.text()).slice(0, 300)}`,
      );
    }
  }
}

/** Rules that each find five hundred of the pushed series, and the wait until every one of these is an incident. */
export async function raise(house: WholeHouse, incidents: number): Promise<void> {
  for (let at = 0; at * lot < incidents; at += 1) {
    const answer = await house.fetch('/api/v1/alert-rules', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        rule_key: `bench_${at}`,
        name: `Hot ${at}`,
        kind: 'metric_raw',
        source_type: 'svc_builtin',
        scope_type: 'global',
        join_mode: 'all',
        severity: (['critical', 'warning', 'info'] as const)[at % 3],
        dimensions: ['instance', 'part'],
        conditions: [{ expr: `max_over_time(bench_hot{lot="${at}"}[1h]) > 0` }],
        annotations: { summary: '{{ $labels.instance }} is hot' },
      }),
    });
    if (!answer.ok) {
      throw new Error(`a rule was refused: ${(await answer.text()).slice(0, 300)}`);
    }
  }
  for (const deadline = Date.now() + 300_000; Date.now() < deadline; await pause(500)) {
    const { total } = (await (await house.fetch('/api/v1/alerts/incidents?limit=1')).json()) as {
      total: number;
    };
    if (total >= incidents) {
      return;
    }
  }
  throw new Error(`the rules did not make ${incidents} incidents within five minutes`);
}
