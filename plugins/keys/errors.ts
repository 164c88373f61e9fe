import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('keys', {
  rotation_running: [
    'conflict',
    'a rotation is running: secrets are being sealed with the newest key; try again when it is done',
  ],
  rotation_stopped: [
    'unavailable',
    'the rotation was stopped; the remaining secrets are sealed with the newest key after the next start',
  ],
});
