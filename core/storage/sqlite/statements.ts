import type { Statement } from 'better-sqlite3';

import type { Outcome } from '../engine/engine.ts';
import type { Connection } from './connection.ts';

export type Execute = (sql: string, parameters: readonly unknown[]) => Outcome;

/**
 * Runs statements on `connection`, each text prepared once; the least recently used are dropped.
 */
export function executor(connection: Connection, limit = 512): Execute {
  const prepared = new Map<string, Statement>();

  function prepare(sql: string): Statement {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(sql);
      if (prepared.size >= limit) {
        prepared.delete(prepared.keys().next().value!);
      }
    } else {
      prepared.delete(sql);
    }
    prepared.set(sql, statement);
    return statement;
  }

  return (sql, parameters) => {
    const statement = prepare(sql);
    if (statement.reader) {
      return { rows: statement.all(parameters) };
    }
    const { changes, lastInsertRowid } = statement.run(parameters);
    return { rows: [], changes, insertId: lastInsertRowid };
  };
}
