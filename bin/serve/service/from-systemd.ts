import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Environment } from '../../../core/boot/settings/settings.ts';
import { messageOf } from '../../../core/sdk/index.ts';

const toolMs = 10_000;

/**
 * Values that systemd hands over as files: `$CREDENTIALS_DIRECTORY/SVC_SECRET_KEY` stands for the variable of that name, which no list of
 * processes then shows. The id of a folder of credentials may stand before, as in `svc_SVC_SECRET_KEY`. A variable that is set goes before.
 */
export function withCredentials(environment: Environment): Environment {
  const folder = environment['CREDENTIALS_DIRECTORY'];
  if (folder === undefined || !existsSync(folder)) {
    return environment;
  }
  const given = readdirSync(folder).flatMap((file) => {
    const name = /^(?:svc_)?(SVC_[A-Z0-9_]+)$/.exec(file)?.[1];
    return name === undefined
      ? []
      : [[name, readFileSync(join(folder, file), 'utf8').trimEnd()] as const];
  });
  return { ...Object.fromEntries(given), ...environment };
}

/**
 * Says that svc is ready to the systemd that has started it, and from then on that it goes round, where `WatchdogSec` wants to hear that: a main
 * thread that is stuck tells nothing, and the service is started again. Elsewhere it does nothing. By the program of systemd, for Node has no
 * sockets of that kind.
 */
export function tellSystemd(
  { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID }: Environment,
  complain: (line: string) => void,
): void {
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') {
    return;
  }
  let told = false;
  const tell = (state: string): void => {
    execFile('systemd-notify', [state], { timeout: toolMs }, (error) => {
      if (error && !told) {
        told = true;
        complain(
          `svc: failed to notify systemd of ${state}, so systemd may assume that svc hangs or has not started: ${messageOf(error)}`,
        );
      }
    });
  };
  tell('READY=1');
  const everyMs = Number(WATCHDOG_USEC) / 3_000;
  if (everyMs > 0 && (WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === process.pid)) {
    setInterval(() => tell('WATCHDOG=1'), everyMs).unref();
  }
}
