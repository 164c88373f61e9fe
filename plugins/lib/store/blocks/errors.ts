import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('store', {
  disk_full: ['unavailable', 'the disk under {folder} is full'],
  damaged_block: ['internal', 'the block {block} is damaged: {what}'],
  block_closed: ['internal', 'the block {path} is closed'],
  catalogue_unreadable: ['internal', 'the catalogue {path} cannot be opened: {cause}'],
  catalogue_version: [
    'unavailable',
    'the catalogue {path} has version {found} and this svc knows {max}: it was written by a newer one',
  ],
  unpacked_size: ['internal', 'compressed data holds {count} bytes where {written} were written'],
  no_zstd: [
    'unavailable',
    'this data is compressed with zstd, which Node {node} cannot read: start svc with Node 22.15 or newer',
  ],
  compressed_damaged: ['internal', 'compressed data is damaged'],
  unknown_codec: [
    'unavailable',
    'this data is compressed with codec {codec}, which this version of svc does not know: was it written by a newer one?',
  ],
});
