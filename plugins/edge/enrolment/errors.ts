import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  enrolment_token: [
    'unauthorized',
    'the enrolment token is not valid: it is unknown, used up, expired or revoked; make a new one at the manager',
  ],
  expires_in: ['invalid_argument', 'expires_in is from 1m to 30d'],
  takes_device: [
    'forbidden',
    'an enrolment that takes a device over needs the action device:accept',
  ],
  one_machine: ['invalid_argument', 'one machine is a device: leave max_uses at 1'],
  no_device: ['not_found', 'there is no device {device}'],
  no_enrolment: ['not_found', 'there is no enrolment {id}'],
  machine_key: ['invalid_argument', 'machine_key is no public key'],
  too_many_attempts: [
    'rate_limited',
    'too many wrong tokens from this address; try again in {retryAfterSeconds} s',
  ],
  loopback_manager: [
    'conflict',
    'svc has no install script to hand out: other hosts cannot reach {url}, a loopback address; set SVC_PUBLIC_URL to one that they can reach, and let svc listen there',
  ],
});
