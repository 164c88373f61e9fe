import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  too_many_connecting: [
    'unavailable',
    'too many edges connect at this moment; come back in {retryAfterSeconds} s',
  ],
  no_event: ['invalid_argument', 'there is no event {event}; there are {list}'],
  connection_over: ['unavailable', 'this connection no longer serves an edge'],
  event_not_stored: ['unavailable', 'the event could not be stored; send it again'],
  conflict: [
    'forbidden',
    'several machines use the keys of edge {id}; say at the manager which one is meant (resolve)',
  ],
  push_form: [
    'invalid_argument',
    'a push has the texts "to", "type" and "body", and may have an "encoding"',
  ],
});
