import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('schedules', {
  no_schedule: ['not_found', 'There is no schedule {id}.'],
  not_yours: [
    'forbidden',
    'Schedule {id} runs under the name of another person; you may pause and delete it, but not change or run it.',
  ],
  people_only: [
    'forbidden',
    'A schedule runs under the name of a person: sign in instead of using an API token.',
  ],
  name_taken: ['conflict', 'You already have a schedule named "{name}".'],
  too_many: [
    'conflict',
    '{most} schedules are already active; pause one, or raise schedules.max_active.',
  ],
  too_often: [
    'invalid_argument',
    'The schedule would run every {gap}; the shortest interval allowed is {least} (schedules.min_interval_minutes).',
  ],
  needs: ['invalid_argument', 'A schedule with the trigger {trigger} needs {field}.'],
  does_not_take: [
    'invalid_argument',
    'A schedule with the trigger {trigger} does not take {field}.',
  ],
  no_channel: ['invalid_argument', 'There is no channel {ids}.'],
  channel_needed: ['invalid_argument', 'Delivery to channels needs channel_ids.'],
  channel_right: ['forbidden', 'Delivery to channels requires the permission channel:test.'],
  document_right: ['forbidden', 'Delivery to documents requires the permission knowledge:create.'],
  narrow_place: [
    'forbidden',
    'Members who see only some devices can deliver answers only to timelines, because channels and documents have other readers.',
  ],
  no_timeline: [
    'invalid_argument',
    'Only runs that an incident starts can be delivered to its timeline; use a channel or a document.',
  ],
  no_agent: ['invalid_argument', 'There is no persona {agent}; "svc agent list" lists them.'],
  which_incident: [
    'invalid_argument',
    'incident_id is missing: specify the incident to run the schedule for.',
  ],
  no_incident: ['not_found', 'There is no incident {id}.'],
  stopped: ['conflict', 'Schedule {id} is stopped: {because}.'],
  busy: ['conflict', 'Schedule {id} is already running.'],
});
