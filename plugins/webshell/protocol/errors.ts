import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('webshell', {
  first_frame_late: ['invalid_argument', 'The first frame did not arrive within 15 s.'],
  first_frame_form: ['invalid_argument', 'The first frame must be {forms}.'],
  right_to_open_ended: ['forbidden', 'You no longer have permission to open shells.'],
  user_missing: [
    'invalid_argument',
    '"user" is missing: specify the user to log in as, in the ticket or in the first frame.',
  ],
  ticket_of_another_user: ['invalid_argument', 'The ticket is for {user}.'],
  recording_not_writable: [
    'internal',
    'The recording cannot be written, and shells are not allowed without one.',
  ],
  right_to_shell_ended: ['forbidden', 'You no longer have permission to use this shell.'],
  shell_not_opened: ['internal', 'Failed to open the shell.'],
  recording_unreadable: ['internal', 'Recording {id} is unreadable: {cause}'],
  no_recording: ['not_found', 'There is no recording {id}.'],
  recording_damaged: [
    'internal',
    'Recording {name} is damaged: its file was altered or truncated, or belongs to another session.',
  ],
  users_only: ['forbidden', 'Only users and their API tokens may open shells.'],
  too_many_failed_logins: ['rate_limited', 'Too many failed logins on this device; wait a minute.'],
  too_many_shells: ['rate_limited', '{reached}; end one first.'],
  no_device: ['not_found', 'There is no device {device}.'],
  device_offline: ['unavailable', 'Device {device} is offline: none of its edges is connected.'],
  shells_not_allowed: [
    'forbidden',
    'The owner of device {device} does not allow shells: "webshell" in policy.yaml on its edge is false.',
  ],
  ssh_port_tag: [
    'invalid_argument',
    'This device\'s tag ssh_port is "{port}"; it must be a port from 1 to 65535.',
  ],
  too_many_tickets: ['rate_limited', 'Too many unused tickets; they expire within 30 s.'],
  recorded_shell_open: [
    'conflict',
    'This shell is still open; you can download its recording after it has ended.',
  ],
  recording_in_use: ['conflict', 'This shell is still open; end it first.'],
  no_session: ['not_found', 'There is no session {id}.'],
  session_ended: ['conflict', 'Session {id} has already ended.'],
  ticket_of_another_place: [
    'unauthorized',
    'This ticket is for another device, or for a page of another origin.',
  ],
  no_shell_to_attach: ['not_found', 'You have no shell {session} on device {device} to attach to.'],
  ticket_names_user: [
    'invalid_argument',
    'A ticket for an open shell is valid only for the user of that shell; leave out "user".',
  ],
  shell_ended: ['not_found', 'This shell has ended.'],
  from_beyond_end: [
    'invalid_argument',
    '"from" is {from}, but this shell has printed {bytesOut} bytes.',
  ],
  shell_is_over: ['not_found', 'Shell {id} has ended; open a new one.'],
  connection_ended_early: ['upstream_error', 'The connection ended before the shell was open.'],
  no_shell_from_server: ['upstream_error', 'The SSH server did not open a shell: {cause}'],
  connection_lost_at_login: [
    'upstream_error',
    'The connection to the SSH server ended before sign-in was complete.',
  ],
  private_key_unreadable: [
    'invalid_argument',
    'The private key cannot be read: its format is unknown, or the passphrase is wrong.',
  ],
  login_refused: ['unauthorized', 'The SSH server rejected this sign-in.'],
  another_key_refused: [
    'conflict',
    'The most recently rejected key is {refused}, not {fingerprint}.',
  ],
  no_host_key: [
    'not_found',
    'The host key of device {device} is not known yet; it is trusted when the first shell is opened.',
  ],
  server_too_late: ['upstream_error', 'The SSH server timed out.'],
  ssh_failed: ['upstream_error', 'SSH failed: {cause}'],
  host_key_mismatch: [
    'conflict',
    'Host key mismatch: the SSH server of this device presents {shown}, but {trusted} is trusted. Either the machine was reinstalled or the connection is intercepted; an administrator who has verified the new key can accept it.',
  ],
});
