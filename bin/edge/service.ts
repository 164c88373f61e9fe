import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isSea } from 'node:sea';

import { agentCommand } from './index.ts';
import { messageOf } from '../../core/sdk/index.ts';
import { Failure } from '../cli/failure.ts';
import { closedPath } from './closed-path.ts';
import { launcherFile, placeLauncher } from './launcher.ts';
import { unitFile, unitName, unitText } from './unit.ts';

const user = 'svc-edge';
const toolMs = 60_000;

/** How the agent is started on this machine; the single binary by its launcher, which can put another version into its place. */
export const startCommand = (dataDir: string): readonly string[] =>
  isSea() ? ['/bin/sh', launcherFile(resolve(dataDir)), resolve(dataDir), process.execPath] : [...agentCommand(false), 'edge', '--data', dataDir];

/** Why no service can be set up here; undefined when it can. */
export function whyNoService(): string | undefined {
  if (!existsSync('/run/systemd/system')) {
    return 'this machine does not run systemd';
  }
  return process.getuid?.() === 0 ? undefined : 'only root can set up a service';
}

/** Why the service would not start, though one can be set up: its user must be able to read the program. */
export function whyNoStart(): string | undefined {
  const closed = closedPath([process.execPath, ...agentCommand(isSea()).filter((word) => word.startsWith('/'))]);
  return closed === undefined
    ? undefined
    : `the user ${user}, as whom it runs, may not enter or read ${closed}: install svc, and Node, where everybody may, such as /opt, and run this again`;
}

/** What the start needs in the data folder. */
export function prepareStart(dataDir: string): void {
  if (isSea()) {
    placeLauncher(dataDir);
  }
}

/** A user of its own, a unit, and a start; again on a machine that has them it brings them up to date. */
export function installService(dataDir: string): void {
  if (!/^svc-edge:/m.test(readFileSync('/etc/passwd', 'utf8'))) {
    run('useradd', ['--system', '--home-dir', dataDir, '--no-create-home', '--shell', '/usr/sbin/nologin', '--user-group', user]);
  }
  const [uid, gid] = idsOf(user);
  own(resolve(dataDir), uid, gid);
  const known = new Set(
    readFileSync('/etc/group', 'utf8')
      .split('\n')
      .map((line) => line.split(':')[0]),
  );
  const groups = ['adm', 'systemd-journal'].filter((group) => known.has(group));
  writeFileSync(unitFile, unitText({ command: startCommand(resolve(dataDir)), dataDir: resolve(dataDir), user, groups }), { mode: 0o644 });
  run('systemctl', ['daemon-reload']);
  run('systemctl', ['enable', unitName]);
  run('systemctl', ['restart', unitName]);
}

export function uninstallService(): boolean {
  if (!existsSync(unitFile)) {
    return false;
  }
  run('systemctl', ['disable', unitName]);
  run('systemctl', ['stop', unitName]);
  rmSync(unitFile, { force: true });
  run('systemctl', ['daemon-reload']);
  return true;
}

function idsOf(name: string): [number, number] {
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([first]) => first === name);
  if (!fields) {
    throw new Failure(1, 'internal', `there is still no user ${name}: make one and run this again`);
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
    throw new Failure(1, 'internal', `"${tool} ${args.join(' ')}" failed: ${said === undefined || said === '' ? messageOf(error) : said}`, { cause: error });
  }
}
