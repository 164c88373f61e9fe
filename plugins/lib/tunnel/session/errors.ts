import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('tunnel', {
  busy: ['unavailable', 'busy: {calls} calls are at work already; try again'],
  no_method: ['not_found', 'there is no method {name} here'],
  no_idempotency_key: ['invalid_argument', '{name} is a command; it needs an idempotency key'],
  cancelled: ['unavailable', 'the caller has taken the call back'],
  deadline: ['unavailable', 'the deadline of the call has passed'],
  journal_not_written: [
    'unavailable',
    'the command journal cannot be written, so no command is run; free some space on the host of the agent',
  ],
  answer_too_large: [
    'upstream_error',
    'the answer has {bytes} bytes; {bodyBytes} are the most; ask for less',
  ],
  peer_busy: ['unavailable', '{peer} works on {calls} calls already; try again'],
  no_answer: ['unavailable', '{peer} did not answer {method} within {dl} ms'],
  params_form: ['invalid_argument', 'the parameters of a call are plain JSON'],
  call_too_large: [
    'invalid_argument',
    'a call may carry {maxBytes} bytes, this one has {bytes}',
    413,
  ],
  event_too_large: ['invalid_argument', 'an event may carry {bodyBytes} bytes', 413],
  idempotency_key: [
    'invalid_argument',
    'an idempotency key has 1 to 64 letters, digits and . : _ -',
  ],
  journal_closed: ['unavailable', 'commands cannot be written down ({cause}), so none is run'],
  too_many_commands: ['rate_limited', '{maxKeys} commands in {keepMs} minutes are the most'],
  command_not_written: [
    'unavailable',
    'the command could not be written down ({cause}), so it was not run',
  ],
  key_of_another: ['conflict', 'this idempotency key belongs to another command'],
  reconnecting: ['unavailable', 'the connection is made anew; try again'],
  connection_ended: ['unavailable', 'the connection to {peer} has ended{detail}'],
  stream_closed: ['unavailable', 'the stream was closed'],
  too_many_streams: ['unavailable', '{streams} streams to {peer} are open already; close one'],
  open_too_large: ['invalid_argument', 'the opening of a stream carries too much', 413],
  no_opening: ['unavailable', '{peer} did not open {service} within {timeoutMs} ms'],
  no_service: ['not_found', 'there is no service {service} here'],
  busy_streams: ['unavailable', 'busy: {streams} streams are open already'],
  interrupted: [
    'conflict',
    'the agent ended while this command ran, so it may or may not have taken effect; look at the host before you send it again with a new key',
  ],
  answer_forgotten: [
    'conflict',
    'this command has run already, and its outcome is no longer kept; send it with a new key to run it once more',
  ],
  connection_over: ['unavailable', 'the connection to {peer} has ended'],
  connection_ending: ['unavailable', 'the connection to {peer} is about to end'],
});
