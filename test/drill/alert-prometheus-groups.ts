import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Outcome } from '../exercise.ts';
import { freePort } from '../plugins/ingest/nginx.ts';
import type { Ends } from './alert-prometheus-units.ts';

/** The same words mean the same to both. */
export const grouping = {
  group_by: ['alertname'],
  group_wait: '5s',
  group_interval: '20s',
  repeat_interval: '3m',
};

/**
 * Max time difference: a message waits for the next interval of its group, the evaluations of both
 * differ by up to one, and an end is sent after the second evaluation that finds it.
 */
const slackMs = 20_000 + 3 * 5_000;

export async function startAlertmanager(
  t: Ends,
  program: string,
  hook: string,
  groups: typeof grouping = grouping,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-alertmanager-'));
  const address = `127.0.0.1:${await freePort()}`;
  const config = {
    route: { receiver: 'hook', ...groups },
    receivers: [{ name: 'hook', webhook_configs: [{ url: hook, send_resolved: true }] }],
  };
  writeFileSync(join(folder, 'alertmanager.yml'), JSON.stringify(config));
  const options = [
    `--config.file=${folder}/alertmanager.yml`,
    `--storage.path=${folder}/data`,
    `--web.listen-address=${address}`,
    '--cluster.listen-address=',
  ];
  const child = spawn(program, options, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return address;
}

interface Told {
  readonly at: number;
  readonly group: string;
  readonly burns: boolean;
}

interface OurEntry {
  readonly event: string;
  readonly incident: { readonly id: number };
  readonly rule: { readonly name: string };
}

/** Messages of a receiver in order of arrival. */
export class Heard {
  readonly url: string;
  readonly told: Told[] = [];
  messages = 0;
  /** Our firing units by the name of their alert. */
  readonly #burning = new Map<string, Set<number>>();

  private constructor(url: string) {
    this.url = url;
  }

  static async listen(t: Ends, from: 'svc' | 'alertmanager'): Promise<Heard> {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as object;
        if (from === 'svc') {
          heard.#takeOurs(body as OurEntry & { readonly notices?: readonly OurEntry[] });
        } else {
          heard.#takeTheirs(body as { status: string; groupLabels: Record<string, string> });
        }
        response.end('ok');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const heard = new Heard(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`);
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return heard;
  }

  #takeOurs(body: OurEntry & { readonly notices?: readonly OurEntry[] }): void {
    this.messages += 1;
    const entries = body.notices ?? [body];
    // Of one incident a digest may hold a firing and its end: what came last of it counts.
    for (const { event, incident, rule } of entries.toSorted(
      (a, b) => Number(a.event === 'resolved') - Number(b.event === 'resolved'),
    )) {
      const burning = this.#burning.get(rule.name) ?? new Set();
      this.#burning.set(rule.name, burning);
      if (event === 'resolved') {
        burning.delete(incident.id);
      } else {
        burning.add(incident.id);
      }
    }
    for (const group of new Set(entries.map(({ rule }) => rule.name))) {
      this.told.push({ at: Date.now(), group, burns: this.#burning.get(group)!.size > 0 });
    }
  }

  #takeTheirs({
    status,
    groupLabels,
  }: {
    status: string;
    groupLabels: Record<string, string>;
  }): void {
    this.messages += 1;
    this.told.push({
      at: Date.now(),
      group: groupLabels['alertname']!,
      burns: status === 'firing',
    });
  }
}

/** Period from the message that a group fires to the one that it no longer does. */
interface Spell {
  readonly group: string;
  readonly from: number;
  readonly to: number;
}

function spellsOf(told: readonly Told[]): readonly Spell[] {
  const spells: Spell[] = [];
  const open = new Map<string, number>();
  for (const { at, group, burns } of told) {
    const from = open.get(group);
    if (burns && from === undefined) {
      open.set(group, at);
    } else if (!burns && from !== undefined) {
      spells.push({ group, from, to: at });
      open.delete(group);
    }
  }
  open.forEach((from, group) => spells.push({ group, from, to: Infinity }));
  return spells;
}

/**
 * Compares second by second: what one receiver considers firing, the other must as well, within the
 * slack.
 */
function agreement(
  mine: readonly Spell[],
  yours: readonly Spell[],
  { from, to }: { readonly from: number; readonly to: number },
) {
  const counts = { seconds: 0, agreed: 0 };
  const apart = new Map<string, number>();
  for (const one of mine) {
    for (let at = Math.max(one.from, from); at < Math.min(one.to, to); at += 1_000) {
      const agrees = yours.some(
        ({ group, ...other }) =>
          group === one.group && other.from - slackMs <= at && at <= other.to + slackMs,
      );
      counts.seconds += 1;
      counts.agreed += agrees ? 1 : 0;
      if (!agrees) {
        apart.set(one.group, (apart.get(one.group) ?? 0) + 1);
      }
    }
  }
  return { ...counts, apart };
}

/**
 * Compares groups: the same ones firing at the same times, with the same repeats while nothing
 * changes.
 */
export function comparedGroups(
  ours: Heard,
  theirs: Heard,
  window: { readonly from: number; readonly to: number },
): Outcome {
  const [mine, yours] = [spellsOf(ours.told), spellsOf(theirs.told)];
  const groupsOf = (spells: readonly Spell[]): string =>
    [...new Set(spells.map(({ group }) => group))].toSorted().join(' ');
  assert.equal(groupsOf(mine), groupsOf(yours), 'the same groups are told');
  const [forth, back] = [agreement(mine, yours, window), agreement(yours, mine, window)];
  const percent =
    Math.round(((forth.agreed + back.agreed) * 10_000) / (forth.seconds + back.seconds)) / 100;
  const times = (told: readonly Told[]): number =>
    told.filter(({ group }) => group === 'Always').length;
  const apart = [...forth.apart].map(([group, count]) => `${group}: ${count} s ours alone`);
  apart.push(...[...back.apart].map(([group, count]) => `${group}: ${count} s theirs alone`));
  return {
    ok: percent >= 99 && Math.abs(times(ours.told) - times(theirs.told)) <= 1,
    groups: groupsOf(mine).split(' ').length,
    'messages, ours': ours.messages,
    'messages, theirs': theirs.messages,
    'spells, ours': mine.length,
    'spells, theirs': yours.length,
    'groups told alike, % of time': percent,
    'one that burns on, ours': times(ours.told),
    'one that burns on, theirs': times(theirs.told),
    ...(apart.length > 0 && { 'groups apart': apart.join('; ') }),
  };
}
