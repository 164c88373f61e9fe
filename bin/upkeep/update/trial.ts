import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { type SvcError, timestamp } from '../../../core/sdk/index.ts';
import { connect, databaseName, onlyAdds, syncPath } from '../../../core/storage/index.ts';
import { readManifest } from '../backup/manifest.ts';
import { errors } from './errors.ts';
import { runAsOwner } from './owner.ts';
import {
  besides,
  isSwitched,
  markFile,
  readMark,
  readRecord,
  removeRecord,
  type UpdateMark,
  type UpdateRecord,
  writeMark,
  writeRecord,
} from './record.ts';

/** A version that did not hold once may have met a busy moment; one that did not three times gives way. */
const mostStarts = 3;
/** Trial: must be ready within `deadlineMs`, and stay so for `holdMs`. */
export type Trial = Pick<UpdateRecord, 'id' | 'deadlineMs' | 'holdMs'> & {
  readonly program: string;
};

/**
 * Determines at each start, before the data is opened, whether this is a version on trial. One that
 * has been started too often, or that was given up meanwhile, is replaced by the previous one, and
 * the start ends with a sentence. If this process may not write to its program, as in a service,
 * the unit has done that as root before.
 */
export function beginTrial(
  dataDir: string,
  version: string,
  nativeBinding: string | undefined,
): Trial | undefined {
  assertNotTakenBack(dataDir, version);
  const mark = readMark(dataDir);
  const record = mark === undefined ? undefined : readRecord(mark.program);
  if (mark === undefined || record?.id !== mark.id || !isSwitched(mark.program)) {
    return undefined;
  }
  const { program } = mark;
  if (mark.heldAt !== undefined) {
    hasHeld(dataDir, { id: record.id, program });
    return undefined;
  }
  // Its program was read before the switch. Let go on, it would bring the data that the other one expects to its own state.
  if (version !== record.to && record.state === 'trial') {
    throw errors.replaced_midway({ version, to: record.to });
  }
  const { id, deadlineMs, holdMs } = record;
  const trial = { id, deadlineMs, holdMs, program };
  const writable = mayReplace(program);
  if (record.state === 'back') {
    if (writable) {
      takeBack(program, record, record.reason ?? 'it was rolled back', nativeBinding);
    }
    throw gaveWay(record, record.reason ?? 'it was rolled back');
  }
  if (!writable) {
    return trial;
  }
  const counted = { ...record, starts: record.starts + 1 };
  writeRecord(program, counted);
  if (
    counted.starts > mostStarts &&
    !(mark.readyAt !== undefined && changedTables(record, nativeBinding))
  ) {
    const reason = `it was started ${mostStarts} times and did not stay up`;
    takeBack(program, counted, reason, nativeBinding);
    throw gaveWay(record, reason);
  }
  if (counted.restore !== undefined) {
    restore(program, counted, counted.restore);
    const { restore: _done, ...rest } = counted;
    writeRecord(program, rest);
  }
  return trial;
}

/**
 * Asserts that this version was not taken back: a supervisor may restart the version on trial in
 * the moment in which it is given up, when neither its lock nor its card show it yet. Such a
 * process has that version though its program has not been installed since; or it is older than the
 * mark. Checked at the start, and again with the lock of the data.
 */
export function assertNotTakenBack(dataDir: string, version: string): void {
  const mark = readMark(dataDir);
  if (mark?.takenBack === undefined) {
    return;
  }
  const { from, to, at, reason } = mark.takenBack;
  const isLeftOver =
    version === to &&
    from !== to &&
    (statSync(mark.program, { throwIfNoEntry: false })?.ctimeMs ?? 0) <= at;
  if (isLeftOver || performance.timeOrigin < at) {
    throw gaveWay(mark.takenBack, reason);
  }
}

/** Returns whether the version on trial was ready, and yet keeps being restarted. */
export function isUnsteady(program: string, dataDir: string): boolean {
  const [record, mark] = [readRecord(program), readMark(dataDir)];
  return (
    record?.state === 'trial' &&
    mark?.id === record.id &&
    mark.readyAt !== undefined &&
    mark.heldAt === undefined &&
    record.starts > mostStarts
  );
}

/** The new version serves: from here on its data are not given up. Later, it has held. */
export function markTrial(dataDir: string, { id }: Trial, what: 'readyAt' | 'heldAt'): void {
  const mark = readMark(dataDir);
  if (mark?.id === id && mark[what] === undefined) {
    writeMark(dataDir, { ...mark, [what]: Date.now() });
  }
}

/** Completes an update that has held: nothing remains of it except the previous version. */
export function hasHeld(dataDir: string, { id, program }: Pick<Trial, 'id' | 'program'>): void {
  if (readRecord(program)?.id === id && mayReplace(program)) {
    removeRecord(program);
  }
  // Else the one who may removes both, at the next start.
  if (readMark(dataDir)?.id === id && !existsSync(besides(program).record)) {
    rmSync(markFile(dataDir), { force: true });
  }
}

/**
 * Brings the version before back, and, where the new one has changed tables and was never ready, the data of before that. Nothing may serve
 * meanwhile. Cut short at any line it is done again from the beginning, and comes to the same.
 */
export function takeBack(
  program: string,
  record: UpdateRecord,
  reason: string,
  nativeBinding: string | undefined,
): void {
  const { previous, previousCard } = besides(program);
  const mark = readMark(record.dataDir);
  const back: UpdateRecord = { ...record, state: 'back', reason };
  writeRecord(program, back);
  if (existsSync(previous)) {
    if (mark?.readyAt === undefined && changedTables(record, nativeBinding)) {
      restore(previous, record, backupBefore(record));
    }
    renameSync(previous, program);
    syncPath(dirname(program));
  }
  rmSync(previousCard, { force: true });
  const { id, from, to } = record;
  writeMark(record.dataDir, {
    id,
    program,
    takenBack: { from, to, reason, at: Date.now() },
  } satisfies UpdateMark);
  removeRecord(program);
}

/**
 * Returns whether migrations that the previous version cannot use were made since the update began.
 */
export function changedTables(
  { dataDir, beganAt }: Pick<UpdateRecord, 'dataDir' | 'beganAt'>,
  nativeBinding: string | undefined,
): boolean {
  return migrationsSince(dataDir, beganAt, nativeBinding).some(
    (name) => !onlyAdds(name.split(' ')[1]!),
  );
}

/** `plugin 012-what.sql` of each. */
export function migrationsSince(
  dataDir: string,
  since: number,
  nativeBinding: string | undefined,
): readonly string[] {
  if (!existsSync(join(dataDir, databaseName))) {
    return [];
  }
  const connection = connect(join(dataDir, databaseName), {
    nativeBinding,
    readonly: true,
    mustExist: true,
  });
  try {
    const text =
      "select plugin || ' ' || name from core_migrations where applied_at >= ? order by applied_at";
    return connection.prepare(text).pluck().all(since) as string[];
  } finally {
    connection.close();
  }
}

/** The one that the new version has made before it changed anything. */
export function backupBefore({
  dataDir,
  beganAt,
  to,
}: Pick<UpdateRecord, 'dataDir' | 'beganAt' | 'to'>): string {
  const folder = join(dataDir, 'backups');
  const found = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith(`-before-${to}`))
    .map((name) => join(folder, name))
    .find((dir) => readManifest(dir).created_at >= timestamp(beganAt));
  if (found === undefined) {
    throw errors.no_backup({ to, folder });
  }
  return found;
}

function restore(program: string, { dataDir }: UpdateRecord, dir: string): void {
  const { code, stderr } = runAsOwner(
    program,
    ['backup', 'restore', dir, '--without-key'],
    dataDir,
  );
  if (code !== 0) {
    throw errors.restore_failed({ dir, stderr: stderr.trim().slice(-500) });
  }
}

function mayReplace(program: string): boolean {
  try {
    accessSync(dirname(program), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const gaveWay = ({ from, to }: Pick<UpdateRecord, 'from' | 'to'>, reason: string): SvcError =>
  errors.rolled_back({ to, reason, from });
