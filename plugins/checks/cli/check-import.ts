import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

import {
  asFailure,
  type Command,
  clientOptions,
  openClient,
  printable,
  usageFailure,
} from 'svc/cli';
import { parseForeignYaml } from 'svc/foreign-yaml';
import { messageOf } from 'svc/sdk';

import { fromBlackbox } from './import/blackbox.ts';
import { fromGatus } from './import/gatus.ts';
import { fromHealthchecks } from './import/healthchecks.ts';
import { fromKuma } from './import/kuma.ts';
import { kumaBackupOf } from './import/kuma-file.ts';
import { type Draft, type Fields, isFields, type Taken } from './import/taken.ts';

export const command: Command = {
  operands: ['<file>'],
  options: {
    modules: { value: 'file', about: 'configuration of blackbox_exporter, for that of Prometheus' },
    apply: { about: 'create what is shown' },
    ...clientOptions,
  },
  about:
    'Reads a backup (JSON) or the database (kuma.db) of Uptime Kuma, a configuration of Gatus, the list of checks of healthchecks.io (JSON), or a configuration of Prometheus with the modules of blackbox_exporter. Shows what would be created and what would be left out; --apply creates it.',
  example: 'svc check import kuma.db --apply',

  async run(call, shell) {
    const modules = call.value('modules');
    const path = call.operand(0);
    const taken = takenFrom(
      isDatabase(path) ? await kumaBackupOf(shell, path) : fileOf(path),
      modules === undefined ? undefined : fileOf(modules),
    );
    const plan = [
      ...taken.checks.map((draft) => ({ path: '/api/v1/checks', draft })),
      ...taken.heartbeats.map((draft) => ({ path: '/api/v1/heartbeats', draft })),
    ];
    const left = [...taken.left];
    const made: { readonly name: string; readonly text: string }[] = [];
    if (call.has('apply')) {
      const client = await openClient(call, shell);
      for (const { path: route, draft } of plan) {
        const name = String(draft['name']);
        try {
          const { url } = await client.post<{ readonly url?: string }>(route, draft);
          made.push({ name, text: url ?? summaryOf(draft) });
        } catch (error) {
          left.push({ name, why: messageOf(asFailure(error)) });
        }
      }
    } else {
      made.push(
        ...plan.map(({ draft }) => ({ name: String(draft['name']), text: summaryOf(draft) })),
      );
    }
    const verb = call.has('apply') ? 'Created' : 'Would create';
    return {
      data: {
        created: call.has('apply') ? made : [],
        planned: plan.map(({ draft }) => draft['name']),
        left,
      },
      text: () =>
        [
          ...made.map(({ name, text }) => `  ${printable(name)}  ${printable(text)}`),
          `${verb} ${made.length}; left out: ${left.length === 0 ? 'nothing' : left.length}`,
          ...left.map(({ name, why }) => `  ${printable(name)}: ${printable(why)}`),
          ...(call.has('apply') || plan.length === 0 ? [] : ['Repeat with --apply to create them']),
        ].join('\n'),
    };
  },
};

/** Tells by its sections which product wrote a file. */
function takenFrom(file: Fields, modules: Fields | undefined): Taken {
  if (file['monitorList'] !== undefined) {
    return fromKuma(file);
  }
  if (file['endpoints'] !== undefined || file['external-endpoints'] !== undefined) {
    return fromGatus(file);
  }
  if (file['checks'] !== undefined) {
    return fromHealthchecks(file);
  }
  if (file['scrape_configs'] !== undefined) {
    if (modules === undefined) {
      throw usageFailure('set --modules to the configuration of blackbox_exporter');
    }
    return fromBlackbox(file, modules);
  }
  throw usageFailure(
    'the file has neither monitorList (Uptime Kuma), endpoints (Gatus), checks (healthchecks.io) nor scrape_configs (Prometheus)',
  );
}

const databaseMark = Buffer.from('SQLite format 3\0');

/** Tells by its first bytes whether a file is a database. */
function isDatabase(path: string): boolean {
  const start = Buffer.alloc(databaseMark.length);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, start);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unreadable(path, error);
  }
  return start.equals(databaseMark);
}

const unreadable = (path: string, error: unknown): Error =>
  usageFailure(`${path} cannot be read: ${messageOf(error)}`);

/** JSON is YAML as well. */
function fileOf(path: string): Fields {
  let file: unknown;
  try {
    file = parseForeignYaml(readFileSync(path, 'utf8'), { merge: true });
  } catch (error) {
    throw unreadable(path, error);
  }
  if (!isFields(file)) {
    throw usageFailure(`${path} has no settings in it`);
  }
  return file;
}

const summaryOf = ({ target, cron, period_s: period, interval_s: interval }: Draft): string =>
  typeof target === 'string'
    ? `${target}, every ${String(interval)} s`
    : `heartbeat, ${typeof cron === 'string' ? cron : `every ${String(period)} s`}`;
