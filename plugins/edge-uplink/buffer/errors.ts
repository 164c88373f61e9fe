import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-uplink', {
  buffer_write: ['unavailable', "Failed to write to this machine's buffer: {cause}"],
  buffer_full: [
    'unavailable',
    "This machine's buffer is full of data that has priority over {lane}.",
  ],
  buffer_sync: ['unavailable', "Failed to sync this machine's buffer to disk: {cause}"],
  stopped: ['unavailable', 'The uplink has stopped.'],
  too_many_puts: ['unavailable', "Too many writes are waiting for this machine's disk."],
});
