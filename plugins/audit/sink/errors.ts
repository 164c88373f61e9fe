import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('audit', {
  sink_address: [
    'invalid_argument',
    'audit.sink is not an address such as syslog+tls://logs.example.org, https://logs.example.org/audit or s3+https://s3.example.org/bucket/svc.',
  ],
  sink_silent: ['upstream_error', 'The sink did not close the connection within 15 s.'],
  sink_cut: ['upstream_error', 'The sink closed the connection before it had read all the data.'],
  sink_refused: ['upstream_error', 'The sink responded with status {status}.'],
  sink_object_differs: [
    'upstream_error',
    'The sink already has an object {name} with different content (status {status}); compare it with "svc audit verify --against".',
  ],
  sink_stopped: ['unavailable', 'Audit log shipping was interrupted; it will resume in a moment.'],
});
