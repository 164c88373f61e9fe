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
  number_size: [
    'invalid_argument',
    'a number in the data is larger than any that is written there',
  ],
  cut_short: ['invalid_argument', 'the data ends before it is complete'],
  body_size: [
    'invalid_argument',
    'the body holds more than {max} bytes when it is unpacked: send it in smaller parts',
    413,
  ],
  gzip: ['invalid_argument', 'gzip: corrupt input'],
  snappy: ['invalid_argument', 'snappy: corrupt input'],
  otlp: ['invalid_argument', 'OTLP: {what}'],
  attribute_depth: ['invalid_argument', 'attribute values are nested more than {max} deep'],
  protobuf: ['invalid_argument', 'protobuf: {what}'],
  not_writable: ['unavailable', '{problem}'],
});
