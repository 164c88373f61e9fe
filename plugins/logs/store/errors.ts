import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('logs', {
  no_stream: ['invalid_argument', 'error at least one valid stream is required for ingestion', 422],
  wal_behind: ['rate_limited', "The log store's write-ahead log is behind; retry in a moment."],
  streams_refused: ['rate_limited', '{reason}'],
  no_room: ['unavailable', '{trouble}'],
});
