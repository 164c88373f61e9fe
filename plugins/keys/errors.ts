import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('keys', {
  rotation_running: [
    'conflict',
    'A rotation is in progress: secrets are being encrypted with the newest key; try again when it has finished.',
  ],
  rotation_stopped: [
    'unavailable',
    'The rotation was stopped; the remaining secrets will be encrypted with the newest key after the next start.',
  ],
});
