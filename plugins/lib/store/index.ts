export {
  type BlockFile,
  type BlockWriter,
  type DamagedBlock,
  isDamagedBlock,
  openBlock,
  writeBlock,
} from './block-file.ts';
export type { BlockRow, BlockTable, NewBlock } from './block-table.ts';
export * from './bytes.ts';
export * from './catalogue.ts';
export * from './codec.ts';
export * from './crc32.ts';
export * from './damage-book.ts';
export * from './disk.ts';
export * from './examination.ts';
export * from './inflate.ts';
export * from './opening-steps.ts';
export * from './otlp-json.ts';
export * from './otlp.ts';
export * from './proto-writer.ts';
export * from './protobuf.ts';
export * from './retention.ts';
export * from './section-cache.ts';
export * from './snappy.ts';
export * from './unpacker.ts';
export * from './wal-files.ts';
export type { WalDamage } from './wal-replay.ts';
export { type Wal, type WalOptions, type WalReplay, openWal } from './wal.ts';
