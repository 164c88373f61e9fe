import { existsSync, linkSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isSea } from 'node:sea';

import { compare } from 'semver';

import { type Call, type Command, type Result, Failure, usageFailure } from 'svc/cli';
import { openDataFolder } from '../data-folder.ts';
import { backupBefore, changedTables } from '../update/data-since.ts';
import { withProgress } from '../../product/with-progress.ts';
import { errors } from '../update/errors.ts';
import { fetchVersion } from '../update/fetch.ts';
import { besides, readPlan, readPrevious, readProgress, removePlan } from '../update/files.ts';
import { rehearse } from '../update/rehearsal.ts';
import { assertSigned, keepKey, trustedKey } from '../update/release-key.ts';
import {
  backUp,
  type Outcome,
  replace,
  type Tried,
  releaseKeyOf,
  tryVersion,
  type Replacement,
  versionOf,
} from '../update/replace.ts';
import { keeperOf, serviceData } from '../update/service.ts';
import { discardNext, Update } from '../update/update.ts';
import { withUpdateLock } from '../update/lock.ts';

export const command: Command = {
  operands: ['[file|url]'],
  options: {
    check: {
      about: 'verify the version and try it on a copy of the data, without changing anything',
    },
    back: { about: 'go back to the previous version' },
    'with-backup': {
      about:
        'with --back: also restore the data from before the update; data written since then is set aside',
    },
    key: {
      value: 'key',
      about:
        'public key for release signatures, needed only the first time; stored next to the program',
    },
    unsigned: { about: 'accept a version without a signature' },
    downgrade: { about: 'accept a version older than this one' },
    deadline: {
      value: 'seconds',
      about: 'seconds to wait for the new version to become ready; default 300',
    },
    hold: {
      value: 'seconds',
      about: 'seconds the new version must stay up before the update is final; default 15',
    },
    program: { value: 'file', about: 'program to replace; default: this one' },
    rehearse: {
      about: 'print the migrations of this version; called by the previous version',
    },
    settle: {
      about:
        'roll back a trial version that did not stay up; the systemd unit runs this before each start',
    },
  },
  about:
    'Verifies the signature of the new version, tries that version on a copy of the data, makes a backup, replaces the program and restarts svc. Rolls back if the new version is not ready in time or does not stay up.',
  example: 'svc update https://example.org/svc-0.2.0-x64 --check',

  async run(call) {
    if (call.has('rehearse')) {
      const rehearsed = await rehearse(call.environment);
      return { data: rehearsed, text: () => rehearsed.migrations.join('\n') };
    }
    const program = programOf(call);
    const environment = {
      ...call.environment,
      SVC_DATA_DIR: call.environment['SVC_DATA_DIR'] ?? serviceData(program),
    };
    const { dataDir, product } = await openDataFolder(environment);
    const nativeBinding = product.embedded?.nativeBinding;
    if (call.has('settle')) {
      return settled(dataDir, product.version, nativeBinding);
    }
    const how: Replacement = {
      program,
      dataDir,
      nativeBinding,
      keeper: keeperOf(program, dataDir),
      deadlineMs: secondsOf(call, 'deadline', 300),
      holdMs: secondsOf(call, 'hold', 15),
      say: (line) => void process.stderr.write(`${line}\n`),
    };
    return await withUpdateLock(besides(program).lock, async () =>
      call.has('back') ? await goBack(call, how) : await goOn(call, how),
    );
  },
};

async function goOn(call: Call, how: Replacement): Promise<Result> {
  const { program, dataDir } = how;
  const from = call.optionalOperand(0);
  if (from === undefined || call.has('with-backup')) {
    throw usageFailure(
      from === undefined
        ? 'name the file or the https address of a version'
        : '--with-backup needs --back',
    );
  }
  assertSettled(program);
  const { next, key: keptIn } = besides(program);
  try {
    const key = await trustedKey(keptIn, call.value('key'));
    if (key === undefined && !call.has('unsigned')) {
      throw new Failure(
        1,
        'forbidden',
        'svc does not know the key that versions are signed with: pass it once with --key, or accept the version with --unsigned after you have compared its checksum',
      );
    }
    const source = /^https?:\/\//.test(from) ? from : resolve(from);
    const { sha256, signature } = await withProgress(`Fetching ${source}`, () =>
      fetchVersion(source, next),
    );
    if (key !== undefined && !call.has('unsigned')) {
      assertSigned(key, sha256, signature, source);
    }
    const tried = await withProgress('Trying the version on a copy of the data', async () =>
      tryVersion(next, program, dataDir),
    );
    if (compare(tried.version, tried.from) < 0 && !call.has('downgrade')) {
      throw errors.older_version({ version: tried.version, current: tried.from });
    }
    if (call.has('check')) {
      return {
        data: { ...tried, sha256, signed: signature !== undefined && key !== undefined },
        text: () => shown(tried),
      };
    }
    const backup = await withProgress('Backing up', async () => backUp(program, dataDir));
    const nextKey = releaseKeyOf(next, dataDir);
    const outcome = await replace(how, tried);
    if (key !== undefined && 'serves' in outcome) {
      keepKey(keptIn, key, call.has('unsigned') ? undefined : nextKey);
    }
    return told(outcome, tried, backup);
  } finally {
    discardNext(program);
  }
}

async function goBack(call: Call, how: Replacement): Promise<Result> {
  const { program, dataDir, nativeBinding } = how;
  // It never settles by itself: it has served, so that only a person may give up what it has written.
  const update = Update.of(program, nativeBinding);
  const unsteady = update?.isUnsteady && readProgress(dataDir)?.id === update.plan.id;
  if (!unsteady) {
    assertSettled(program);
  }
  const { previous, next } = besides(program);
  const before = readPrevious(program);
  if (!existsSync(previous) || before === undefined) {
    throw new Failure(
      1,
      'not_found',
      `there is no earlier version next to ${program}: name one, with --downgrade if it is older`,
    );
  }
  if (versionOf(program, dataDir) !== before.replacedBy) {
    throw new Failure(
      1,
      'conflict',
      `"svc update" did not install the current program, so ${previous} is not the version before it: name a version instead`,
    );
  }
  const since = { dataDir, beganAt: before.at, to: before.replacedBy };
  const isChanged = changedTables(since, nativeBinding);
  if (isChanged && !call.has('with-backup')) {
    throw new Failure(
      1,
      'conflict',
      `svc ${before.replacedBy} has changed tables that ${before.version} cannot read: add --with-backup to restore the data from before the update; data written since is kept aside`,
    );
  }
  const restore = isChanged ? backupBefore(since) : undefined;
  if (unsteady) {
    removePlan(program);
  }
  linkSync(previous, next);
  try {
    const tried = {
      from: before.replacedBy,
      version: before.version,
      migrations: [],
      keepsWayBack: true,
    };
    const backup = await withProgress('Backing up', async () => backUp(program, dataDir));
    return told(
      await replace({ ...how, ...(restore !== undefined && { restore }) }, tried),
      tried,
      backup,
    );
  } finally {
    discardNext(program);
  }
}

/** Settles an update as root, before the user of the service may open anything. */
function settled(dataDir: string, version: string, nativeBinding: string | undefined): Result {
  try {
    Update.start(dataDir, version, nativeBinding);
    return { data: { settled: true }, text: () => '' };
  } catch (error) {
    // The version before is in place, which is what is started next.
    return { data: { settled: false }, text: () => String((error as Error).message) };
  }
}

function programOf(call: Call): string {
  const named = call.value('program');
  if (named === undefined && !isSea()) {
    throw new Failure(
      1,
      'conflict',
      'svc runs from source here: check out another version with git, and start it again',
    );
  }
  const program = named ?? process.execPath;
  if (!existsSync(program)) {
    throw new Failure(1, 'not_found', `there is no program ${program} to replace`);
  }
  return realpathSync(program);
}

function secondsOf(call: Call, option: 'deadline' | 'hold', usual: number): number {
  const text = call.value(option) ?? String(usual);
  if (!/^[1-9]\d{0,4}$/.test(text)) {
    throw usageFailure(`--${option} must be a number of seconds`);
  }
  return Number(text) * 1_000;
}

/**
 * Discards an update that was interrupted before the switch; one that was interrupted later is
 * ended by the next start.
 */
function assertSettled(program: string): void {
  discardNext(program);
  const plan = readPlan(program);
  if (plan !== undefined) {
    throw new Failure(
      1,
      'conflict',
      `svc ${plan.to} is still on trial: start it, wait until it stays up or is rolled back, then try again`,
    );
  }
}

function shown({ from, version, migrations, keepsWayBack }: Tried): string {
  const tables =
    migrations.length === 0 ? 'No table changes.' : `Migrations: ${migrations.join(', ')}.`;
  const way = keepsWayBack
    ? `${from} can read all data written until then.`
    : `Going back to ${from} needs the backup that is made first.`;
  return `svc ${version} starts here and can read the data of ${from}. ${tables} ${way}`;
}

function told(outcome: Outcome, { from, version }: Tried, backup: string): Result {
  if ('unsteady' in outcome) {
    throw new Failure(
      1,
      'conflict',
      `svc ${version} was ready but did not stay up: it was started ${outcome.unsteady} times. Its data is kept; "svc update --back" goes back, with --with-backup for the earlier data if it has changed tables. Backup from before: ${backup}`,
    );
  }
  if ('takenBack' in outcome) {
    throw new Failure(
      1,
      'conflict',
      `svc ${version} was rolled back, because ${outcome.takenBack}; ${from} is running again. Backup from before: ${backup}`,
    );
  }
  return {
    data: { from, version, backup, ...outcome },
    text: () =>
      outcome.serves
        ? `svc ${version} is running; "svc update --back" goes back to ${from}. Backup from before: ${backup}`
        : `svc ${version} is installed and will be tried at the next start. Backup from before: ${backup}`,
  };
}
