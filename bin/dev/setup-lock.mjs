// Two starts at once must not install into one folder: the first does the work, the others wait for it.
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { progress } from '../product/progress.mjs';

const silentMs = 30_000;
const waitDeadlineMs = 20 * 60_000;

/** Runs `work` while no other process does; `work` is given the heartbeat that keeps its lock alive. */
export async function withSetupLock(root, work) {
  const path = join(root, '.setup.lock');
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), token: randomUUID() });
  await acquire(path, mine);
  const release = () => holder(path) === mine && rmSync(path, { force: true });
  process.once('exit', release);
  try {
    return await work(() => holder(path) === mine && utimesSync(path, new Date(), new Date()));
  } finally {
    process.off('exit', release);
    release();
  }
}

async function acquire(path, mine) {
  const deadline = performance.now() + waitDeadlineMs;
  let waiting;
  while (!created(path, mine) && !(isDead(path) && (await takenOver(path, mine)))) {
    waiting ??= progress('Waiting for another start that is installing dependencies');
    if (performance.now() > deadline) {
      waiting.end('Gave up waiting');
      throw new Error(
        `Another start has been installing dependencies for too long (${holder(path)}). Stop it or delete ${path}, then start again.`,
      );
    }
    await sleep(200);
  }
  waiting?.end('The other start has finished');
}

function created(path, mine) {
  try {
    writeFileSync(path, mine, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

const holder = (path) => whenPresent(() => readFileSync(path, 'utf8'));

/** A lock whose process is gone, or that has not been touched for long (another machine, a reused pid). */
function isDead(path) {
  const text = holder(path);
  const touched = whenPresent(() => statSync(path).mtimeMs);
  if (text === undefined || touched === undefined) {
    return false;
  }
  return Date.now() - touched > silentMs || (text !== '' && isGone(JSON.parse(text)));
}

function isGone({ pid, host }) {
  if (host !== hostname()) {
    return false;
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** Replaces a dead lock by ours. When several do so at once the last one wins, so each looks again after a while. */
async function takenOver(path, mine) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, mine);
  renameSync(draft, path);
  await sleep(300);
  return holder(path) === mine;
}

function whenPresent(read) {
  try {
    return read();
  } catch (error) {
    if (error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
