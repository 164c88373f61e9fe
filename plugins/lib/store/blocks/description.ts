import type { BlockRow, NewBlock } from './block-table.ts';

/** The row of a block, as the block itself tells it. */
export type DescribedRow = Pick<BlockRow, 'level' | 'mint' | 'maxt' | 'rows' | 'meta'>;

/**
 * What a block says about itself: enough to enter it in an empty catalogue. Written into the block,
 * or into a file beside one of an earlier version.
 */
export interface BlockDescription extends DescribedRow {
  /** Names of blocks whose data it holds in their place. */
  readonly replaces: readonly string[];
  /** Details that the store keeps beside the row: its position in the log, which chunks there are. */
  readonly store: unknown;
}

const version = 1;

export const encodeDescription = (description: BlockDescription): Uint8Array =>
  Buffer.from(JSON.stringify({ version, ...description }));

export function decodeDescription(bytes: Uint8Array): BlockDescription {
  const found = JSON.parse(Buffer.from(bytes).toString()) as BlockDescription & {
    readonly version: unknown;
  };
  if (found.version !== version) {
    throw new RangeError(
      `a description of version ${String(found.version)}; this svc reads ${version}`,
    );
  }
  const { level, mint, maxt, rows, meta, replaces, store } = found;
  return { level, mint, maxt, rows, meta, replaces, store };
}

/** The row of a described block. */
export const rowFor = (
  { file, bytes }: { readonly file: string; readonly bytes: number },
  { level, mint, maxt, rows, meta }: DescribedRow,
): NewBlock => ({ file, bytes, level, mint, maxt, rows, meta });
