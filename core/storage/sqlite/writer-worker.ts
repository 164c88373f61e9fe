import { parentPort, workerData } from 'node:worker_threads';

import { messageOf } from '../../sdk/index.ts';
import type { Step } from '../engine/engine.ts';
import { connectWriter } from './connection.ts';
import type { Failure, FromWriter, Request, ToWriter, WriterData } from './protocol.ts';
import type { Outcome } from '../engine/engine.ts';
import { executor } from './statements.ts';
import { sqliteCode } from './trouble.ts';

const { file, nativeBinding } = workerData as WriterData;
const connection = connectWriter(file, { nativeBinding });
const execute = executor(connection);

/** Why the open group can only be rolled back. */
let doom: Error | undefined;

const steps: Record<Step, (depth: number) => void> = {
  begin: () => connection.exec('BEGIN IMMEDIATE'),
  save: (depth) => void execute(`SAVEPOINT unit${depth}`, []),
  release: (depth) => void execute(`RELEASE unit${depth}`, []),
  undo(depth) {
    execute(`ROLLBACK TO unit${depth}`, []);
    execute(`RELEASE unit${depth}`, []);
  },
  rollback,
};

function take(step: Step, depth = 0): void {
  if (step === 'begin' || step === 'rollback') {
    doom = undefined;
  }
  // Outside of a group a savepoint would open a transaction of its own.
  if (doom !== undefined || (step !== 'begin' && !connection.inTransaction)) {
    return;
  }
  try {
    steps[step](depth);
  } catch (error) {
    doom = error as Error;
  }
}

const orders: Record<Exclude<Request['kind'], 'query'>, () => void> = {
  commit() {
    assertOpen();
    connection.exec('COMMIT');
  },
  trim,
  close() {
    try {
      connection.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      // A disk that is full keeps the log; the next start folds it in.
      connection.close();
    }
  },
};

function answer(request: Request): Outcome {
  if (request.kind === 'query') {
    assertOpen();
    return execute(request.sql, request.parameters);
  }
  if (request.kind === 'trim' && request.checked) {
    assertWhole();
  }
  orders[request.kind]();
  return { rows: [] };
}

/**
 * Trims in small steps, each checkpointed at once: on a full disk the log must not grow by what is
 * freed.
 */
function trim(): void {
  connection.pragma('wal_checkpoint(TRUNCATE)');
  for (
    let step = 0;
    step < 64 && connection.pragma('freelist_count', { simple: true }) !== 0;
    step++
  ) {
    connection.exec('PRAGMA incremental_vacuum(256)');
    connection.pragma('wal_checkpoint(TRUNCATE)');
  }
}

function assertWhole(): void {
  const found = connection.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') {
    throw new Error(String(found));
  }
}

/** Throws if the transaction was lost: a further statement would commit on its own. */
function assertOpen(): void {
  if (doom !== undefined) {
    throw doom;
  }
  if (!connection.inTransaction) {
    throw new Error('no group is open');
  }
}

function rollback(): void {
  if (connection.inTransaction) {
    connection.exec('ROLLBACK');
  }
}

/** SQLite may roll back everything on its own (disk full, I/O error): remember why. */
function failureOf(request: Request, error: unknown): Failure {
  if (request.kind === 'query' && !connection.inTransaction) {
    doom ??= error as Error;
  }
  return {
    message: messageOf(error),
    code: sqliteCode(error),
    lost: doom !== undefined || (request.kind === 'commit' && !connection.inTransaction),
  };
}

function respond(id: number, request: Request): FromWriter {
  try {
    return { id, outcome: answer(request) };
  } catch (error) {
    const failure = failureOf(request, error);
    if (request.kind === 'commit') {
      take('rollback');
    }
    return { id, failure };
  }
}

parentPort!.on('message', (message: ToWriter) => {
  message.steps.forEach(({ step, depth }) => take(step, depth));
  if (message.id === undefined) {
    return;
  }
  parentPort!.postMessage(respond(message.id, message));
  if (message.kind === 'close') {
    parentPort!.close();
  }
});
