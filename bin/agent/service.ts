import { resolve } from 'node:path';
import { isSea } from 'node:sea';

import { closedPath } from '../serve/service/closed-path.ts';
import { installService } from '../serve/service/systemd.ts';
import { agentCommand } from './index.ts';
import { launcherFile, placeLauncher } from './launcher.ts';
import { serviceName, unitText } from './unit.ts';

/**
 * Returns how the agent is started on this host; the single binary by its launcher, which can
 * switch to another version.
 */
export const startCommand = (dataDir: string): readonly string[] =>
  isSea()
    ? ['/bin/sh', launcherFile(resolve(dataDir)), resolve(dataDir), process.execPath]
    : [...agentCommand(false), 'edge', '--data', dataDir];

/** Why the service would not start, though one can be set up: its user must be able to read the program. */
export function whyNoStart(): string | undefined {
  const closed = closedPath([
    process.execPath,
    ...agentCommand(isSea()).filter((word) => word.startsWith('/')),
  ]);
  return closed === undefined
    ? undefined
    : `the user ${serviceName}, which runs the agent, cannot read ${closed}: install svc, and Node, where every user can read, such as /opt, and run this again`;
}

/** Prepares the data folder for the start. */
export function prepareStart(dataDir: string): void {
  if (isSea()) {
    placeLauncher(dataDir);
  }
}

/** A user of its own, a unit, and a start. */
export function installAgent(dataDir: string): void {
  const folder = resolve(dataDir);
  installService({
    name: serviceName,
    dataDir: folder,
    groups: ['adm', 'systemd-journal'],
    unit: (groups) =>
      unitText({ command: startCommand(folder), dataDir: folder, user: serviceName, groups }),
  });
}
