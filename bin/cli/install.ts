import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import { setTimeout as pause } from 'node:timers/promises';

import { installation } from '../../core/boot/settings/product.ts';
import { type Call, type Command, Failure } from 'svc/cli';
import { withProgress } from '../product/with-progress.ts';
import { backupUnitTexts, serviceName, unitText } from '../serve/unit.ts';
import { closedPath } from '../serve/service/closed-path.ts';
import { installService, whyNoService } from '../serve/service/systemd.ts';

const usualFolder = '/var/lib/svc';
const credentialFolder = '/etc/svc/credentials';
const readyWithinMs = 60_000;

export const command: Command = {
  operands: [],
  options: {
    print: { about: 'print the units without changing anything' },
    'no-backups': { about: 'do not set up a nightly backup' },
  },
  about: `Creates a systemd service that starts at boot, with its own user, the data folder ${usualFolder} (or --data) and a nightly backup. Run it again to update the units.`,
  example: 'svc install',

  async run(call) {
    const dataDir = call.environment['SVC_DATA_DIR'] ?? usualFolder;
    const program = isSea()
      ? [process.execPath]
      : [process.execPath, join(installation, 'bin', 'svc')];
    const backups = call.has('no-backups') ? {} : backupUnitTexts({ command: program, dataDir });
    const unit = (groups: readonly string[]): string =>
      unitText({
        command: program,
        dataDir,
        groups,
        credentials: call.has('print') ? [] : credentials(),
      });
    if (call.has('print')) {
      const units = { [`${serviceName}.service`]: unit([]), ...backups };
      return {
        data: units,
        text: () =>
          Object.entries(units)
            .map(([name, text]) => `# /etc/systemd/system/${name}\n${text}`)
            .join('\n'),
      };
    }
    assertPossible(program);
    installService({
      name: serviceName,
      dataDir,
      groups: ['adm', 'systemd-journal'],
      unit,
      others: backups,
      enabled: Object.keys(backups).filter(isTimer),
    });
    const url = await withProgress('Waiting until svc is ready', () => untilReady(dataDir));
    return { data: { url, data_dir: dataDir }, text: () => told(url, dataDir, call) };
  },
};

/** One line for each file, since systemd before 250 takes no folder. */
function credentials(): string[] {
  mkdirSync(credentialFolder, { recursive: true, mode: 0o700 });
  return readdirSync(credentialFolder)
    .filter((name) => /^SVC_[A-Z0-9_]+$/.test(name))
    .map((name) => `${name}:${join(credentialFolder, name)}`);
}

const isTimer = (unit: string): boolean => unit.endsWith('.timer');

function assertPossible(program: readonly string[]): void {
  const obstacle = whyNoService();
  if (obstacle !== undefined) {
    throw new Failure(
      1,
      'conflict',
      `no service was set up, because ${obstacle}; "svc install --print" shows the units, and "svc serve" runs svc in the foreground`,
    );
  }
  const closed = closedPath(program);
  if (closed !== undefined) {
    throw new Failure(
      1,
      'conflict',
      `the user ${serviceName} cannot read ${closed}: put svc, and Node, where every user can read, such as /usr/local/bin or /opt`,
    );
  }
}

async function untilReady(dataDir: string): Promise<string> {
  for (const deadline = Date.now() + readyWithinMs; Date.now() < deadline; await pause(200)) {
    const file = join(dataDir, 'run.json');
    const url = existsSync(file)
      ? (JSON.parse(readFileSync(file, 'utf8')) as { url: string }).url
      : undefined;
    if (
      url !== undefined &&
      (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined))
        ?.ok === true
    ) {
      return url;
    }
  }
  throw new Failure(
    1,
    'unavailable',
    'the service was set up but is not ready after one minute: see "journalctl -u svc"',
  );
}

const told = (url: string, dataDir: string, { environment }: Call): string =>
  [
    `svc is ready at ${url} and starts at boot; its data is in ${dataDir}`,
    `First administrator:  svc user create you@example.org --role admin --data ${dataDir}`,
    `Logs:                 journalctl -u ${serviceName}`,
    ...(environment['SVC_HTTP_ADDR'] === undefined
      ? [
          'To accept connections from other machines, put SVC_HTTP_ADDR=0.0.0.0:8080 into /etc/svc/svc.env and restart svc',
        ]
      : []),
  ].join('\n');
