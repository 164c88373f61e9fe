import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  too_many_connecting: [
    'unavailable',
    'Too many edges are connecting; retry in {retryAfterSeconds} s.',
  ],
  no_event: ['invalid_argument', 'There is no event {event}; known events: {list}.'],
  connection_over: ['unavailable', 'This connection no longer belongs to an edge.'],
  event_not_stored: ['unavailable', 'Failed to store the event; send it again.'],
  conflict: [
    'forbidden',
    'Several machines are using the keys of edge {id}; on the manager, choose which one to keep ("svc edge resolve").',
  ],
  push_form: [
    'invalid_argument',
    'A push needs the strings "to", "type" and "body", and may have an "encoding".',
  ],
});
