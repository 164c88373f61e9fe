export {
  attemptBlock,
  type BlockFile,
  type BlockWriter,
  type DamagedBlock,
  isDamagedBlock,
  mendBits,
  openBlock,
  writeBlock,
  type WrittenBlock,
} from './blocks/block-file.ts';
export { accountOf, accountShareOf } from './accounts.ts';
export type { BlockRow, BlockTable, NewBlock } from './blocks/block-table.ts';
export type { BlockContent } from './catalogue/content.ts';
export { type BlockDescription, rowFor } from './blocks/description.ts';
export type { Loss, LossTable } from './catalogue/losses.ts';
export * from './bytes/bytes.ts';
export * from './catalogue/catalogue.ts';
export * from './blocks/codec.ts';
export * from './bytes/crc32.ts';
export { problemsOf } from './blocks/block-problems.ts';
export * from './catalogue/damage-tracker.ts';
export { segmentCopyIn } from './catalogue/segment-copy.ts';
export * from './catalogue/store-care.ts';
export * from './disk.ts';
export { breakSeal, sealFile } from './catalogue/seal.ts';
export * from './catalogue/end-if-damaged.ts';
export * from './examination.ts';
export * from './figures.ts';
export * from './limit-ratios.ts';
export * from './bytes/inflate.ts';
export * from './opening-steps.ts';
export * from './wire/otlp-json.ts';
export * from './wire/otlp.ts';
export * from './wire/proto-writer.ts';
export { JsonList, parsePushJson } from './wire/push-json.ts';
export * from './wire/protobuf.ts';
export * from './catalogue/retention.ts';
export * from './blocks/section-cache.ts';
export * from './bytes/snappy.ts';
export * from './blocks/unpacker.ts';
export { storeErrors } from './declared-errors.ts';
export * from './wal/wal-files.ts';
export type { WalDamage } from './wal/wal-replay.ts';
export type { WalReplay } from './wal/segments.ts';
export { type Wal, type WalOptions, openWal } from './wal/wal.ts';
