import { type Relation, relationsText, type Schema } from '../engine/engine.ts';
import type { Connection } from './connection.ts';

/** A database of SQLite knows its tables itself. */
export const schemaOf = (connection: Connection): Schema => ({
  connection,
  async carryOut(statements, query) {
    for (const { text } of statements) {
      await query(text);
    }
    return (await query(relationsText)).rows as Relation[];
  },
  async refresh() {},
});
