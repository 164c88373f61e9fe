import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('device', {
  no_device: ['not_found', 'Device {id} does not exist.'],
  not_around: ['not_found', 'Edge {edge} neither watches nor claims device {id}.'],
  no_claim: ['not_found', 'Edge {edge} does not claim device {id}.'],
  edge_online: ['conflict', 'Edge {edge} is online and watches device {id}; stop its agent first.'],
  watched: [
    'conflict',
    'Edge {edge} is online and watches device {id}; stop its agent or delete the edge, then delete the device.',
  ],
  reported: [
    'conflict',
    'The connected store {source} reports device {id} as online and would add it again; first stop scraping the host or disconnect the store, then delete the device.',
  ],
  too_many: [
    'conflict',
    'The limit of {max} devices has been reached; delete some that you no longer need.',
  ],
  no_view: ['not_found', 'You have no saved view {id}.'],
  too_many_views: [
    'conflict',
    'You have saved {max} views, which is the limit; delete one that you no longer need.',
  ],
  edge_id: ['invalid_argument', 'edge_id is not the id of an edge.'],
  machine_uuid: ['invalid_argument', 'machine_uuid is not a UUID.'],
  search_word: [
    'invalid_argument',
    'The search cannot be read at {word}. Write words, such as shop; fields, such as role:db or name:"shop db"; tags, such as env=prod; or conditions, such as cpu > 80.',
  ],
  search_field: [
    'invalid_argument',
    'The search has no field {field}; use one of {fields}, or write a tag as key=value.',
  ],
  search_status: ['invalid_argument', 'status:{value} matches nothing; use online or offline.'],
  search_length: ['invalid_argument', 'The search has more than {max} conditions; remove some.'],
  search_without_metrics: [
    'unavailable',
    'Metrics are not available at the moment, so the search cannot compare figures or incidents; search by name, role or tag, or try again later.',
  ],
  fingerprint: [
    'invalid_argument',
    'The fingerprint must be a single word of at most 200 characters.',
  ],
});
