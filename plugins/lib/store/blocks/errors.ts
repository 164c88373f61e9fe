import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('store', {
  disk_full: ['unavailable', 'The disk that holds {folder} is full.'],
  damaged_block: ['internal', 'The block {block} is damaged: {what}'],
  block_closed: ['internal', 'The block {path} is closed.'],
  unpacked_size: [
    'internal',
    'Compressed data contains {count} bytes, but {written} bytes were written.',
  ],
  no_zstd: [
    'unavailable',
    'This data is compressed with zstd, which Node {node} cannot read: run svc with Node 22.15 or newer.',
  ],
  compressed_damaged: ['internal', 'Compressed data is damaged.'],
  unknown_codec: [
    'unavailable',
    'This data is compressed with codec {codec}, which this version of svc does not support: upgrade svc.',
  ],
});
