import type Database from 'better-sqlite3';

import type { BlockRow } from '../blocks/block-table.ts';
import type { BlockDescription } from '../blocks/description.ts';

/** What one store keeps in its catalogue beside the rows of blocks, and how a block tells it. */
export interface BlockContent {
  /** Enters what belongs to a block, in the transaction that adds its row. */
  enter?(db: Database.Database, row: BlockRow, description: BlockDescription): void;
  /** Returns whether what belongs to a row is what its block says. */
  agrees?(db: Database.Database, row: BlockRow, description: BlockDescription): boolean;
  /** Describes a block of an earlier version from a sound catalogue. */
  describeRow?(db: Database.Database, row: BlockRow): BlockDescription;
  /**
   * Describes a block that does not describe itself by reading it. `derived`: it is made of another
   * and will be again. Undefined if its content does not tell enough.
   */
  describe?(path: string): BlockDescription | 'derived' | undefined;
  /** Called once the catalogue was rebuilt. */
  rebuilt?(db: Database.Database): void;
}
