import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./alert-kills-child.ts', import.meta.url));
const calmMs = 240_000;

interface Told {
  readonly event: string;
  readonly incident: { readonly id: number; readonly event_count: number };
}

/** Message at the webhook: alone or in digests, each with the key of its delivery. */
interface Heard {
  readonly keys: string[];
  readonly told: Told[];
}

/**
 * Kills svc in the middle of storms of incidents, again and again: every firing and every end is
 * notified once.
 */
export async function run({ kills = 100 }: { readonly kills?: number } = {}): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-alert-kills-'));
  const heard: Heard = { keys: [], told: [] };
  const server = await listen(heard);
  const hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  try {
    for (const _kill of counted(kills, 'kills')) {
      const storm = await house(dir, hook, 'storm');
      await pause(300 + Math.random() * 4_000);
      storm.process.kill('SIGKILL');
      await storm.ended;
    }
    const last = await house(dir, hook, 'calm');
    const ask = async <T>(path: string): Promise<T> => {
      const answer = await fetch(last.url + path, {
        headers: { authorization: `Bearer ${last.token}` },
      });
      assert.equal(answer.status, 200, path);
      return (await answer.json()) as T;
    };
    const found = await settled(ask);
    last.process.kill('SIGKILL');
    await last.ended;
    const duplicates = heard.keys.length - new Set(heard.keys).size;
    assert.ok(duplicates <= kills, `${duplicates} deliveries came twice, at ${kills} kills`);
    assertOrder(heard.told);
    return {
      ok: true,
      kills,
      incidents: found.incidents,
      firings: found.firings,
      'ended in sent': found.sent,
      failed: found.failed,
      folded: found.folded,
      overtaken: found.overtaken,
      duplicates,
    };
  } finally {
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

type Ask = <T>(path: string) => Promise<T>;
type Row = {
  readonly type: string;
  readonly data: {
    readonly result: string;
    readonly notice_id: string;
    readonly channel_id: number;
  };
};

/** Waits until every incident is over and every notice has ended, then counts what their timelines say. */
async function settled(ask: Ask): Promise<{
  incidents: number;
  firings: number;
  sent: number;
  failed: number;
  folded: number;
  overtaken: number;
}> {
  const until = Date.now() + calmMs;
  for (;;) {
    const { items } = await ask<{
      items: { id: number; status: string; rule: string; event_count: number }[];
    }>('/api/v1/alerts/incidents?q=storm&limit=200');
    const counts = { sent: 0, failed: 0, folded: 0, overtaken: 0 };
    let firings = 0;
    const missing: string[] = [];
    for (const { id, status, event_count: count } of items) {
      firings += count;
      const rows = await allEvents(ask, id);
      const outcomes = rows.filter(({ type }) => type.startsWith('notification_'));
      outcomes.forEach(({ data }) => (counts[data.result as keyof typeof counts] += 1));
      const ended = new Map<string, number>();
      outcomes.forEach(({ data }) =>
        ended.set(data.notice_id, (ended.get(data.notice_id) ?? 0) + 1),
      );
      missing.push(...(status === 'resolved' ? [] : [`incident ${id} is ${status}`]));
      for (let seq = 1; seq <= count; seq++) {
        for (const kind of ['firing', 'resolved']) {
          const times = ended.get(`incident-${id}-${seq}-${kind}`) ?? 0;
          missing.push(
            ...(times === 1 ? [] : [`${kind} ${seq} of incident ${id} has ended ${times} times`]),
          );
        }
      }
      assert.equal(
        rows.filter(({ type }) => type === 'firing').length,
        count,
        `incident ${id} has one row for each of its firings`,
      );
    }
    if (missing.length === 0 && items.length > 0) {
      return { incidents: items.length, firings, ...counts };
    }
    assert.ok(
      Date.now() < until,
      `still, after the storm: ${missing.slice(0, 5).join('; ')} and ${Math.max(0, missing.length - 5)} more`,
    );
    await pause(2_000);
  }
}

async function allEvents(ask: Ask, id: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let cursor = '';
  do {
    const page = await ask<{ items: Row[]; next_cursor: string }>(
      `/api/v1/alerts/incidents/${id}/events?order=asc&limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    rows.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== '');
  return rows;
}

/**
 * Asserts that of one incident nothing earlier follows something later, except for repetitions
 * after a kill.
 */
function assertOrder(told: readonly Told[]): void {
  const places = new Map<number, number>();
  for (const { event, incident } of told) {
    const place = incident.event_count * 2 + (event === 'resolved' ? 1 : 0);
    const before = places.get(incident.id) ?? 0;
    assert.ok(
      place >= before,
      `incident ${incident.id}: ${event} ${incident.event_count} came after a later event`,
    );
    places.set(incident.id, place);
  }
}

async function listen(heard: Heard): Promise<Server> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as Partial<Told> & {
        readonly notices?: readonly Told[];
      };
      heard.keys.push(String(request.headers['idempotency-key']));
      // Entries of a digest are put worst first, not in their order.
      heard.told.push(...(body.incident ? [body as Told] : []));
      response.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function house(
  dir: string,
  hook: string,
  mood: 'storm' | 'calm',
): Promise<{ process: ChildProcess; url: string; token: string; ended: Promise<unknown> }> {
  const started = spawn(process.execPath, [...programOf(child), dir, hook, mood], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(started, 'exit');
  for await (const line of createInterface({ input: started.stdout })) {
    const [url = '', token = ''] = line.split(' ');
    return { process: started, url, token, ended };
  }
  throw new Error('the house ended before it was up');
}
