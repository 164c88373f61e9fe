import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('webshell', {
  first_frame_late: ['invalid_argument', 'the first frame did not arrive within 15 s'],
  first_frame_form: ['invalid_argument', 'the first frame must be {forms}'],
  right_to_open_ended: ['forbidden', 'your right to open shells has ended'],
  user_missing: [
    'invalid_argument',
    '"user" is missing: name the user to log in as, in the ticket or in the first frame',
  ],
  ticket_of_another_user: ['invalid_argument', 'the ticket is for {user}'],
  recording_not_writable: [
    'internal',
    'the recording cannot be written, and without one there is no shell',
  ],
  right_to_shell_ended: ['forbidden', 'your right to this shell has ended'],
  shell_not_opened: ['internal', 'the shell could not be opened'],
  recording_unreadable: ['internal', 'recording {id} is unreadable: {cause}'],
  no_recording: ['not_found', 'there is no recording {id}'],
  recording_damaged: [
    'internal',
    'recording {name} is damaged: its file was altered, cut off, or belongs to another session',
  ],
  users_only: ['forbidden', 'only users and their API tokens may open shells'],
  too_many_failed_logins: ['rate_limited', 'too many failed logins on this device; wait a minute'],
  too_many_shells: ['rate_limited', '{reached}; end one first'],
  no_device: ['not_found', 'there is no device {device}'],
  device_offline: [
    'unavailable',
    'device {device} is offline: no edge that watches it is connected',
  ],
  shells_not_allowed: [
    'forbidden',
    'the owner of device {device} allows no shells: "webshell" of policy.yaml is false on its edge',
  ],
  ssh_port_tag: [
    'invalid_argument',
    'the tag ssh_port of this device is "{port}"; it must be a port from 1 to 65535',
  ],
  too_many_tickets: ['rate_limited', 'too many unused tickets; they expire within 30 s'],
  recorded_shell_open: [
    'conflict',
    'this shell is still open; download its recording when it has ended',
  ],
  recording_in_use: ['conflict', 'this shell is still open; end it first'],
  no_session: ['not_found', 'there is no session {id}'],
  session_ended: ['conflict', 'session {id} has ended already'],
  ticket_of_another_place: [
    'unauthorized',
    'this ticket is for another device, or for a page of another origin',
  ],
  no_shell_to_attach: ['not_found', 'you have no shell {session} on device {device} to attach to'],
  ticket_names_user: [
    'invalid_argument',
    'a ticket for an open shell is for the user of that shell; leave "user" out',
  ],
  shell_ended: ['not_found', 'this shell has ended'],
  from_beyond_end: [
    'invalid_argument',
    '"from" is {from}, and this shell has printed {bytesOut} bytes',
  ],
  shell_is_over: ['not_found', 'shell {id} has ended; open a new one'],
  connection_ended_early: ['upstream_error', 'the connection ended before there was a shell'],
  no_shell_from_server: ['upstream_error', 'the SSH server opens no shell: {cause}'],
  connection_lost_at_login: [
    'upstream_error',
    'the connection to the SSH server ended before the login',
  ],
  private_key_unreadable: [
    'invalid_argument',
    'the private key cannot be read: its format is unknown, or the passphrase is wrong',
  ],
  login_refused: ['unauthorized', 'the SSH server does not accept this login'],
  another_key_refused: [
    'conflict',
    'the key that was refused last is {refused}, not {fingerprint}',
  ],
  no_host_key: [
    'not_found',
    'no host key of device {device} is known; it is trusted when the first shell is opened',
  ],
  server_too_late: ['upstream_error', 'the SSH server did not answer in time'],
  ssh_failed: ['upstream_error', 'SSH failed: {cause}'],
  host_key_mismatch: [
    'conflict',
    'host key mismatch: the SSH server of this device shows {shown}, and {trusted} is trusted. Either the machine was reinstalled or the connection is intercepted; an administrator who has verified the new key can accept it',
  ],
});
