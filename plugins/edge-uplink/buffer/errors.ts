import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-uplink', {
  buffer_write: ['unavailable', 'Writing to the buffer of this machine failed: {cause}'],
  buffer_full: [
    'unavailable',
    'The buffer of this machine is full of data that has priority over {lane}.',
  ],
  buffer_sync: ['unavailable', 'Syncing the buffer of this machine to disk failed: {cause}'],
  stopped: ['unavailable', 'The uplink has stopped.'],
  too_many_puts: ['unavailable', 'Too many writes are waiting for the disk of this machine.'],
});
