import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-uplink', {
  buffer_write: ['unavailable', 'writing to the buffer of this machine failed: {cause}'],
  buffer_full: [
    'unavailable',
    'the buffer of this machine is full of data with priority over {lane}',
  ],
  buffer_sync: ['unavailable', 'syncing the buffer of this machine to disk failed: {cause}'],
  stopped: ['unavailable', 'the uplink has stopped'],
  too_many_puts: ['unavailable', 'too many puts wait for the disk of this machine'],
});
