import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

import { messageOf } from '../../../core/sdk/index.ts';
import { Failure } from 'svc/cli';

const toolMs = 60_000;
const unitFolder = '/etc/systemd/system';

/** A program that systemd keeps running, as a user of its own. */
export interface Service {
  /** Name of the unit and of the user. */
  readonly name: string;
  readonly dataDir: string;
  /** Groups of the user, those of them that this machine has. */
  readonly groups: readonly string[];
  /** The text of the unit, and of further ones by their names. */
  unit(groups: readonly string[]): string;
  readonly others?: Readonly<Record<string, string>>;
  /** Units to enable besides the service. */
  readonly enabled?: readonly string[];
}

/** Why no service can be set up here; undefined when it can. */
export function whyNoService(): string | undefined {
  if (!existsSync('/run/systemd/system')) {
    return 'this machine does not run systemd';
  }
  return process.getuid?.() === 0 ? undefined : 'only root can set up a service';
}

/** A user of its own, units, and a start; again on a machine that has them it brings them up to date. */
export function installService({
  name,
  dataDir,
  groups,
  unit,
  others = {},
  enabled = [],
}: Service): void {
  const folder = resolve(dataDir);
  if (
    !readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .some((line) => line.startsWith(`${name}:`))
  ) {
    run('useradd', [
      '--system',
      '--home-dir',
      folder,
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      '--user-group',
      name,
    ]);
  }
  const [uid, gid] = idsOf(name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  own(folder, uid, gid);
  const known = new Set(
    readFileSync('/etc/group', 'utf8')
      .split('\n')
      .map((line) => line.split(':')[0]),
  );
  const texts = {
    [`${name}.service`]: unit(groups.filter((group) => known.has(group))),
    ...others,
  };
  Object.entries(texts).forEach(([file, text]) =>
    writeFileSync(join(unitFolder, file), text, { mode: 0o644 }),
  );
  run('systemctl', ['daemon-reload']);
  run('systemctl', ['enable', `${name}.service`]);
  run('systemctl', ['restart', `${name}.service`]);
  enabled.forEach((other) => run('systemctl', ['enable', '--now', other]));
}

/** Stops and removes the units; false when there was none. */
export function uninstallService(name: string, others: readonly string[] = []): boolean {
  const units = [`${name}.service`, ...others].filter((unit) => existsSync(join(unitFolder, unit)));
  units.forEach((unit) => {
    run('systemctl', ['disable', unit]);
    run('systemctl', ['stop', unit]);
    rmSync(join(unitFolder, unit), { force: true });
  });
  if (units.length > 0) {
    run('systemctl', ['daemon-reload']);
  }
  return units.length > 0;
}

/** Quotes a path for systemd, including specifiers. */
export const quotedPath = (path: string): string => {
  const plain = path.replaceAll('%', '%%');
  return /^[\w@%+=:,./$-]+$/.test(plain)
    ? plain
    : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
};

/** Quotes a word of a command for systemd, including specifiers and variables. */
export const quoted = (word: string): string => quotedPath(word.replaceAll('$', '$$$$'));

function idsOf(name: string): [number, number] {
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([first]) => first === name);
  if (!fields) {
    throw new Failure(
      1,
      'internal',
      `there is still no user ${name}: create it and run this again`,
    );
  }
  return [Number(fields[2]), Number(fields[3])];
}

/** Links are left alone: what they lead to is not ours to give away. */
function own(path: string, uid: number, gid: number): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) {
    return;
  }
  chownSync(path, uid, gid);
  if (stat.isDirectory()) {
    readdirSync(path).forEach((name) => own(join(path, name), uid, gid));
  }
}

function run(tool: string, args: readonly string[]): void {
  try {
    execFileSync(tool, [...args], { timeout: toolMs, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const said = (error as { stderr?: Buffer }).stderr?.toString('utf8').trim();
    throw new Failure(
      1,
      'internal',
      `"${tool} ${args.join(' ')}" failed: ${said === undefined || said === '' ? messageOf(error) : said}`,
      { cause: error },
    );
  }
}
