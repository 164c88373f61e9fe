import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('tunnel', {
  busy: ['unavailable', '{calls} calls are already in progress; try again.'],
  no_method: ['not_found', 'The method {name} does not exist here.'],
  no_idempotency_key: ['invalid_argument', '{name} is a command and requires an idempotency key.'],
  cancelled: ['unavailable', 'The caller cancelled the call.'],
  deadline: ['unavailable', "The call's deadline has passed."],
  journal_not_written: [
    'unavailable',
    "The command journal cannot be written, so no commands are run; free some disk space on the agent's host.",
  ],
  answer_too_large: [
    'upstream_error',
    'The response has {bytes} bytes, but the limit is {bodyBytes}; request less data.',
  ],
  peer_busy: ['unavailable', '{peer} has {calls} calls in progress; try again.'],
  no_answer: ['unavailable', '{peer} did not respond to {method} within {dl} ms.'],
  params_form: ['invalid_argument', 'The parameters of a call must be plain JSON.'],
  call_too_large: [
    'invalid_argument',
    'A call may have at most {maxBytes} bytes, but this one has {bytes}.',
    413,
  ],
  event_too_large: ['invalid_argument', 'An event may have at most {bodyBytes} bytes.', 413],
  idempotency_key: [
    'invalid_argument',
    'An idempotency key must be 1 to 64 characters: letters, digits and . : _ -.',
  ],
  journal_closed: ['unavailable', 'Commands cannot be recorded ({cause}), so none are run.'],
  too_many_commands: [
    'rate_limited',
    'The limit of {maxKeys} commands in {keepMs} minutes has been reached.',
  ],
  command_not_written: [
    'unavailable',
    'The command could not be recorded ({cause}), so it was not run.',
  ],
  key_of_another: ['conflict', 'This idempotency key belongs to another command.'],
  reconnecting: ['unavailable', 'The connection is being re-established; try again.'],
  connection_ended: ['unavailable', 'The connection to {peer} has ended{detail}.'],
  stream_closed: ['unavailable', 'The stream was closed.'],
  too_many_streams: ['unavailable', '{streams} streams to {peer} are already open; close one.'],
  open_too_large: ['invalid_argument', 'The request to open a stream is too large.', 413],
  no_opening: ['unavailable', '{peer} did not open {service} within {timeoutMs} ms.'],
  no_service: ['not_found', 'The service {service} does not exist here.'],
  busy_streams: ['unavailable', '{streams} streams are already open.'],
  interrupted: [
    'conflict',
    'The agent stopped while this command ran, so it may or may not have taken effect; check the host before you send it again with a new key.',
  ],
  answer_forgotten: [
    'conflict',
    'This command has already run, and its result is no longer stored; send it with a new key to run it again.',
  ],
  connection_over: ['unavailable', 'The connection to {peer} has ended.'],
  connection_ending: ['unavailable', 'The connection to {peer} is about to close.'],
});
