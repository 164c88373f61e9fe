import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  enrolment_token: [
    'unauthorized',
    'The enrolment token is invalid: it is unknown, used up, expired or revoked; create a new one on the manager.',
  ],
  expires_in: ['invalid_argument', 'expires_in must be from 1m to 30d.'],
  takes_device: [
    'forbidden',
    "An enrolment that replaces a device's host requires the action device:accept.",
  ],
  one_machine: ['invalid_argument', 'A device is a single machine: leave max_uses at 1.'],
  local_keys_damaged: [
    'unavailable',
    "{file}, which contains the keys of this machine's own agent, is damaged: check the disk, delete the edge of this machine and that file, and restart svc.",
  ],
  no_device: ['not_found', 'There is no device {device}.'],
  no_enrolment: ['not_found', 'There is no enrolment {id}.'],
  machine_key: ['invalid_argument', 'machine_key is not a public key.'],
  too_many_attempts: [
    'rate_limited',
    'Too many invalid tokens from this address; retry in {retryAfterSeconds} s.',
  ],
  loopback_manager: [
    'conflict',
    'The install script is not available, because other hosts cannot reach {url}, a loopback address; set SVC_PUBLIC_URL to an address that they can reach, and make svc listen on it.',
  ],
});
