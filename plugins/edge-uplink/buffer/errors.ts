import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-uplink', {
  buffer_write: ['unavailable', "Writing to this machine's buffer failed: {cause}"],
  buffer_full: [
    'unavailable',
    "This machine's buffer is full of data that has priority over {lane}.",
  ],
  buffer_sync: ['unavailable', "Syncing this machine's buffer to disk failed: {cause}"],
  stopped: ['unavailable', 'The uplink has stopped.'],
  too_many_puts: ['unavailable', "Too many writes are waiting for this machine's disk."],
});
